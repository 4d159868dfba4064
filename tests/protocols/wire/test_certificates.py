"""TLS with authorities and certificates of the user's own: options, and a line with the remedy where it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from atc import Agent
from protocols import load
from protocols.errors import UsageError
from tests.protocols.wire.authority import Authority, secure_service
from tests.protocols.wire.conftest import Run
from tests.scripted import ScriptedModel

WHO = {"/who": {"get": {"responses": {"200": {"description": "OK."}}}}}
PROGRAM = 'print(GET_who()["name"])'


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that nobody knows."""
    return Authority(tmp_path)


def test_an_authority_of_its_own_is_trusted_by_option(run: Run, authority: Authority) -> None:
    """Without the option the message names it."""
    with secure_service(authority.certify("service", "127.0.0.1")) as port:
        target = ("--base-url", f"https://127.0.0.1:{port}")
        refused = run(WHO, PROGRAM, *target)
        trusted = run(WHO, PROGRAM, *target, "--ca-file", str(authority.file))

    assert refused.exit_code == 6
    assert "no secure connection: " in refused.stderr
    assert "if this is your own authority, give its certificate with --ca-file" in refused.stderr
    assert (trusted.exit_code, trusted.stdout) == (0, "nobody\n")


def test_the_bundle_of_the_environment_is_trusted(
    run: Run, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQUESTS_CA_BUNDLE counts as for `requests`; one that is not there is named."""
    with secure_service(authority.certify("service", "127.0.0.1")) as port:
        target = ("--base-url", f"https://127.0.0.1:{port}")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.file))
        assert run(WHO, PROGRAM, *target).stdout == "nobody\n"
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere.pem")
        missing = run(WHO, PROGRAM, *target)

    assert missing.exit_code == 6
    assert "REQUESTS_CA_BUNDLE names /nowhere.pem, which is no file" in missing.stderr


def test_a_client_certificate_is_shown_to_the_api(run: Run, authority: Authority) -> None:
    """As two files or one; a service that asks for it in vain is told of with the option."""
    certificate, key = authority.certify("reporting")
    both = certificate.with_name("both.pem")
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    with secure_service(authority.certify("service", "127.0.0.1"), authority.file) as port:
        options = ("--base-url", f"https://127.0.0.1:{port}", "--ca-file", str(authority.file))
        two = run(WHO, PROGRAM, *options, "--client-cert", f"{certificate},{key}")
        single = run(WHO, PROGRAM, *options, "--client-cert", str(both))
        without = run(WHO, PROGRAM, *options)

    assert (two.stdout, single.stdout) == ("reporting\n", "reporting\n")
    assert without.exit_code == 6
    assert "--client-cert" in without.stderr


@pytest.mark.parametrize("demands", [False, True])
def test_a_client_certificate_is_not_shown_to_other_servers(run: Run, authority: Authority, demands: bool) -> None:
    """An origin of --allow sees none, as it sees no credential; if it demands one, the option is not advised."""
    certificate, key = authority.certify("reporting")
    clients = certificate.with_name("required.pem" if demands else "optional.pem")
    clients.write_bytes(authority.file.read_bytes())
    files = authority.certify("service", "127.0.0.1")
    with secure_service(files, authority.file) as own, secure_service(files, clients) as other:
        program = f"import requests\n{PROGRAM}\nprint(requests.get('https://127.0.0.1:{other}/who').json()['name'])"
        target = ("--base-url", f"https://127.0.0.1:{own}", "--allow", f"https://127.0.0.1:{other}")
        result = run(WHO, program, *target, "--ca-file", str(authority.file), "--client-cert", f"{certificate},{key}")

    assert result.stdout == ("reporting\n" if demands else "reporting\nnobody\n")
    assert ("--client-cert is shown to the servers of the API alone" in result.stderr) == demands


def test_a_certificate_for_another_name_says_so(run: Run, authority: Authority) -> None:
    """The remedy is another address, not another authority."""
    with secure_service(authority.certify("service", "api.example.com")) as port:
        target = ("--base-url", f"https://127.0.0.1:{port}", "--ca-file", str(authority.file))
        result = run(WHO, PROGRAM, *target)

    assert result.exit_code == 6
    assert "IP address mismatch" in result.stderr
    assert "address the service by a name that its certificate has (--base-url)" in result.stderr


def test_files_that_do_not_fit_are_refused_before_anything_is_sent(run: Run, authority: Authority) -> None:
    """Each is a line with the place and the remedy, and exit code 2."""
    certificate, _ = authority.certify("reporting")
    _, other_key = authority.certify("other")
    hidden = authority.certify("hidden", passphrase=b"secret")
    Path("notes.txt").write_text("no certificate")
    wrong = {
        ("--ca-file", "nowhere.pem"): "--ca-file nowhere.pem cannot be read: No such file or directory",
        ("--ca-file", "notes.txt"): "--ca-file notes.txt holds no certificate in PEM",
        ("--client-cert", "notes.txt"): "--client-cert notes.txt holds no certificate in PEM",
        ("--client-cert", str(certificate)): "holds no private key in PEM; give the key's file too",
        ("--client-cert", f"{certificate},{other_key}"): "is none for the certificate in",
        ("--client-cert", f"{hidden[0]},{hidden[1]}"): "the key has a passphrase, which cannot be asked for",
    }
    for options, message in wrong.items():
        result = run(WHO, PROGRAM, *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_an_agent_takes_the_files_too(authority: Authority) -> None:
    """`Agent(ca_file=…, client_cert=…)`."""
    certificate, key = authority.certify("reporting")
    document = {"openapi": "3.0.3", "info": {"title": "Who", "version": "1"}, "paths": WHO}
    with secure_service(authority.certify("service", "127.0.0.1"), authority.file) as port:
        model = ScriptedModel(f"```python\n{PROGRAM}\n```")
        files = {"ca_file": authority.file, "client_cert": f"{certificate},{key}"}
        with Agent(load(document), model, base_url=f"https://127.0.0.1:{port}", **files) as agent:  # type: ignore[arg-type]
            assert agent.solve("Who am I?").answer == "reporting"
        with pytest.raises(UsageError, match="cannot be read"):
            Agent(load(document), model, ca_file="nowhere.pem")


def test_a_configuration_file_may_name_them(run: Run, authority: Authority) -> None:
    """Its paths start at its folder, and a stranger's file needs the user's word."""
    certificate, key = authority.certify("reporting")
    with secure_service(authority.certify("service", "127.0.0.1"), authority.file) as port:
        Path("sub").mkdir()
        Path("sub/atc.toml").write_text(
            f'ca-file = "../{authority.file.name}"\nclient-cert = "../{certificate.name},../{key.name}"\n'
        )
        target = ("--base-url", f"https://127.0.0.1:{port}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ATC_CONFIG", "sub/atc.toml")
            named = run(WHO, PROGRAM, *target)
        Path("sub/atc.toml").rename("atc.toml")
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("ATC_CONFIG", raising=False)
            strange = run(WHO, PROGRAM, *target)

    assert named.stdout == "reporting\n"
    assert "trusts the authorities in" in named.stderr
    assert strange.exit_code == 2
    assert "has not been trusted with that" in strange.stderr
