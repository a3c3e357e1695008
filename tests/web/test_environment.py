"""What the `KVIZ_*` variables mean, and that every one of them is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kviz import environment
from kviz.environment import EnvironmentProblem
from kviz.reference.settings_table import DOCUMENT, renewed

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"KVIZ_[A-Z_]+[A-Z]")


def test_every_variable_is_documented_and_every_documented_one_is_read() -> None:
    read = {
        name
        for path in (ROOT / "kviz").rglob("*.py")
        for name in VARIABLE.findall(path.read_text())
    }
    documented = set(VARIABLE.findall((ROOT / "docs" / "operation.md").read_text()))

    assert documented == read == set(environment.declared())


def test_a_postgresql_address_is_taken_apart() -> None:
    settings = environment.database("postgresql://me:p%40ss@db.example:5433/kviz?sslmode=require")

    assert settings["ENGINE"] == "kviz.project.postgresql"
    assert (settings["USER"], settings["PASSWORD"]) == ("me", "p@ss")
    assert (settings["HOST"], settings["PORT"], settings["NAME"]) == ("db.example", 5433, "kviz")
    assert settings["OPTIONS"] == {**environment.SIGNS_OF_LIFE, "sslmode": "require"}


@pytest.mark.parametrize("url", ["mysql://a/b", "postgresql://host", "nonsense"])
def test_an_address_of_another_database(url: str) -> None:
    with pytest.raises(EnvironmentProblem, match="KVIZ_DATABASE_URL"):
        environment.database(url)


def test_sqlite_writers_wait_for_each_other() -> None:
    options = environment.database("")["OPTIONS"]

    assert isinstance(options, dict)
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in options["init_command"]


@pytest.mark.parametrize("value", ["0", "-1", "ten", "1.5"])
def test_numbers_are_whole_and_positive(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("KVIZ_MAX_CYCLES", value)
    with pytest.raises(EnvironmentProblem, match="KVIZ_MAX_CYCLES"):
        environment.number("KVIZ_MAX_CYCLES")


def test_a_message_stays_with_its_worker_for_longer_than_any_work_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert environment.visibility_s(100) > 100
    monkeypatch.setenv("KVIZ_VISIBILITY_SECONDS", "101")
    assert environment.visibility_s(100) == 101
    monkeypatch.setenv("KVIZ_VISIBILITY_SECONDS", "100")
    with pytest.raises(EnvironmentProblem, match=r"VISIBILITY_SECONDS is 100, .* at least 101"):
        environment.visibility_s(100)


def test_a_value_may_name_another_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVIZ_SECRET_KEY", "$SIGNING_KEY")
    with pytest.raises(EnvironmentProblem, match=r"KVIZ_SECRET_KEY .* SIGNING_KEY"):
        environment.secret_key()

    monkeypatch.setenv("SIGNING_KEY", "s3cret")
    assert environment.secret_key() == "s3cret"
    monkeypatch.setenv("KVIZ_SECRET_KEY", r"\$SIGNING_KEY")
    assert environment.secret_key() == "$SIGNING_KEY"


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVIZ_ALLOWED_HOSTS", "a.example, b.example,,")
    assert environment.words("KVIZ_ALLOWED_HOSTS") == ["a.example", "b.example"]
    monkeypatch.setenv("KVIZ_ALLOWED_HOSTS", " ")
    assert environment.words("KVIZ_ALLOWED_HOSTS") == ["localhost", "127.0.0.1", "[::1]"]


def test_a_development_server_is_named_with_its_port() -> None:
    assert environment.vite_server("") == {}
    found = environment.vite_server("http://localhost:5173")
    assert (found["dev_server_host"], found["dev_server_port"]) == ("localhost", 5173)
    with pytest.raises(EnvironmentProblem, match="KVIZ_VITE_SERVER"):
        environment.vite_server("localhost")


def test_the_data_folder_and_its_key_are_made_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KVIZ_DATA_DIR", str(tmp_path / "a" / "b"))
    monkeypatch.delenv("KVIZ_SECRET_KEY", raising=False)

    folder = environment.prepare_data_dir()
    key = environment.secret_key()
    environment.prepare_data_dir()

    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(key) >= 50
    assert environment.secret_key() == key
    monkeypatch.setenv("KVIZ_SECRET_KEY", "mine")
    assert environment.secret_key() == "mine"


def test_an_openid_provider_is_named_whole_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert environment.openid("", "Login") == {}
    with pytest.raises(EnvironmentProblem, match="KVIZ_OIDC_CLIENT_ID"):
        environment.openid("https://login.example", "Login")
    monkeypatch.setenv("KVIZ_OIDC_CLIENT_ID", "kviz")
    with pytest.raises(EnvironmentProblem, match="KVIZ_OIDC_ISSUER"):
        environment.openid("http://login.example", "Login")
    monkeypatch.setenv("KVIZ_OIDC_CLIENT_SECRET_FILE", str(tmp_path / "secret"))
    with pytest.raises(EnvironmentProblem, match="KVIZ_OIDC_CLIENT_SECRET_FILE"):
        environment.openid("https://login.example", "Login")
    (tmp_path / "secret").write_text("s3cret\n")
    assert "'s3cret'" in str(environment.openid("https://login.example", "Login"))


def test_the_table_of_settings_is_todays() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == renewed(text), "write it again: make settings"
