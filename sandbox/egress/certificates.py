"""Reads the certificate files of the user: authorities to trust, and the certificate that a client shows.

Each message says which option names the file, and how to make one that can be read.
"""

from __future__ import annotations

import ssl
from pathlib import Path

from urllib3.util.ssl_ import create_urllib3_context

from protocols.errors import UsageError

__all__ = ["load_certificate", "trusting_context"]


def trusting_context(ca_file: str | Path | None) -> ssl.SSLContext:
    """A context that trusts the usual authorities, and those in a file. Raises: UsageError."""
    context = create_urllib3_context()
    if ca_file:
        path = _file("--ca-file", str(ca_file))
        try:
            context.load_verify_locations(path)
        except ssl.SSLError:
            raise UsageError(
                f"--ca-file {path} holds no certificate in PEM (-----BEGIN CERTIFICATE-----); convert it, such as with "
                "openssl x509 -inform der"
            ) from None
    return context


def load_certificate(context: ssl.SSLContext, client_cert: str) -> None:
    """Have a context show a certificate, `FILE` or `FILE,KEY`. Raises: UsageError."""
    first, _, second = client_cert.partition(",")
    file = _file("--client-cert", first)
    key = _file("--client-cert", second) if second else file
    certificate, secret = (path.read_text("utf-8", "replace") for path in (file, key))
    if "-----BEGIN CERTIFICATE-----" not in certificate:
        raise UsageError(f"--client-cert {file} holds no certificate in PEM (-----BEGIN CERTIFICATE-----)")
    if "PRIVATE KEY-----" not in secret:
        raise UsageError(f"--client-cert {key} holds no private key in PEM; give the key's file too: {file},KEY")

    def no_passphrase() -> str:
        raise UsageError(
            f"--client-cert {key}: the key has a passphrase, which cannot be asked for; write it without one, with "
            "openssl pkey, to a file that only you can read"
        )

    try:
        context.load_cert_chain(file, key, no_passphrase)
    except ssl.SSLError as error:
        if "KEY_VALUES_MISMATCH" in str(error):
            raise UsageError(
                f"--client-cert: the key in {key} is none for the certificate in {file}; give its own"
            ) from None
        raise UsageError(f"--client-cert {client_cert} cannot be read as PEM; make its files anew") from None


def _file(option: str, text: str) -> Path:
    path = Path(text.strip()).expanduser()
    try:
        with path.open("rb"):
            return path
    except OSError as error:
        raise UsageError(f"{option} {path} cannot be read: {error.strerror or error}") from None
