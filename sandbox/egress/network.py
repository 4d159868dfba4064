"""The user's own certificates: authorities to trust, and the certificate that this side shows."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from protocols.errors import UsageError

__all__ = ["Network", "open_network"]


@dataclass(frozen=True, slots=True)
class Network:
    """The TLS settings of a run. `trusting` has the user's authorities, `signing` the client certificate besides.

    None: as without such files. The client certificate is shown to the API's own servers alone.
    """

    trusting: ssl.SSLContext | None = None
    signing: ssl.SSLContext | None = None


def open_network(ca_file: str | Path | None = None, client_cert: str | Path | None = None) -> Network:
    """The settings for certificate files.

    Args:
        ca_file: PEM of authorities that are trusted beside the usual ones.
        client_cert: PEM of a certificate and its key; `FILE,KEY` where the key has a file of its own.
    Raises: UsageError: A file is missing or no PEM, or the key is none for the certificate.
    """
    if not ca_file and not client_cert:
        return Network()
    trusting = _context(ca_file)
    if not client_cert:
        return Network(trusting)
    signing = _context(ca_file)
    _load_certificate(signing, str(client_cert))
    return Network(trusting if ca_file else None, signing)


def _context(ca_file: str | Path | None) -> ssl.SSLContext:
    from urllib3.util.ssl_ import create_urllib3_context

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


def _load_certificate(context: ssl.SSLContext, client_cert: str) -> None:
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
