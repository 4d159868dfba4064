"""An authority of the tests' own, and a service that speaks TLS with its certificates."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.json_server import JSONHandler

__all__ = ["Authority", "secure_service"]


class Authority:
    """Signs certificates and writes them to a folder; `file` is its own."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.file = folder / f"{name}.pem"
        own = self._builder(self._name, self._key).add_extension(x509.BasicConstraints(True, None), True)
        self.file.write_bytes(own.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def certify(self, name: str, *hosts: str, passphrase: bytes | None = None) -> tuple[Path, Path]:
        """The files of a certificate for hosts (names or addresses), and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = self._builder(subject, key)
        if hosts:
            names = [x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        files = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        files[0].write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        hidden = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
        private = serialization.PrivateFormat.PKCS8
        files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, private, hidden))
        return files

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=2))
        )


@contextmanager
def secure_service(files: tuple[Path, Path], clients: Path | None = None) -> Iterator[int]:
    """A service with a certificate, which answers with the name in the client's; `clients` is who must have signed it.

    Gives its port.
    """

    class Handler(JSONHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            peer = self.connection.getpeercert()
            name = peer["subject"][0][0][1] if peer else "nobody"
            self.reply({"name": name})

    class QuietServer(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away is expected."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    if clients is not None:
        context.load_verify_locations(clients)
        context.verify_mode = ssl.CERT_OPTIONAL if clients.name == "optional.pem" else ssl.CERT_REQUIRED
    server = QuietServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
