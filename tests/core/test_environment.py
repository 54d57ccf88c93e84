import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryweb import environment as env
from memoryweb.core.checks import environment_names_are_known
from tests.serving import ROOT


def test_a_flag_that_is_no_flag_names_its_variable():
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_HTTPS"):
        env.flag("MEMORYWEB_HTTPS", False, {"MEMORYWEB_HTTPS": "maybe"})


@pytest.mark.parametrize("value", ["-1", "1.5", "many", "1e3", "٣"])
def test_a_number_that_is_no_whole_number_names_its_variable(value):
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_RATE_LIMIT"):
        env.whole("MEMORYWEB_RATE_LIMIT", 0, environ={"MEMORYWEB_RATE_LIMIT": value})


def test_an_unknown_time_zone_names_its_variable():
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_TIME_ZONE"):
        env.zone("MEMORYWEB_TIME_ZONE", {"MEMORYWEB_TIME_ZONE": "Mars/Olympus"})


@pytest.mark.parametrize("value", ["0", "61", "nan", "3s", "-1"])
def test_a_time_limit_that_is_none_names_its_variable(value):
    given = {"MEMORYWEB_EMBEDDING_TIMEOUT": value}
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_EMBEDDING_TIMEOUT"):
        env.seconds("MEMORYWEB_EMBEDDING_TIMEOUT", 3.0, least=0.1, most=60.0, environ=given)


@pytest.mark.parametrize("value", ["ollama", "ftp://h/v1", "http://me:pw@h/v1", "http://h/v1?k=1"])
def test_an_address_of_no_provider_names_its_variable(value):
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_EMBEDDING_URL must"):
        env.provider("MEMORYWEB_EMBEDDING_URL", {"MEMORYWEB_EMBEDDING_URL": value})


def test_a_provider_without_a_model_names_the_variable_to_set():
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_EMBEDDING_MODEL must name"):
        env.provider_model("MEMORYWEB_EMBEDDING_MODEL", "http://h/v1", {})
    assert env.provider_model("MEMORYWEB_EMBEDDING_MODEL", "", {}) == ""


def test_an_empty_variable_means_its_default():
    assert env.text("MEMORYWEB_LOG_LEVEL", "info", {"MEMORYWEB_LOG_LEVEL": " "}) == "info"


def test_the_secret_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path):
    file = tmp_path / "home" / "secret.key"
    first = env.secret_key("MEMORYWEB_SECRET_KEY", file, {})
    assert env.secret_key("MEMORYWEB_SECRET_KEY", file, {}) == first
    assert len(first) >= 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [p.name for p in file.parent.iterdir()] == ["secret.key"]


def test_a_short_secret_key_is_refused(tmp_path: Path):
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_SECRET_KEY"):
        env.secret_key("MEMORYWEB_SECRET_KEY", tmp_path / "k", {"MEMORYWEB_SECRET_KEY": "short"})


def test_a_damaged_secret_key_file_is_never_taken_for_a_key(tmp_path: Path):
    (tmp_path / "secret.key").write_text("")
    with pytest.raises(ImproperlyConfigured, match=r"secret\.key"):
        env.secret_key("MEMORYWEB_SECRET_KEY", tmp_path / "secret.key", {})


def test_a_misspelt_setting_is_said_and_what_clients_read_is_not(monkeypatch: pytest.MonkeyPatch):
    for name in ("MEMORYWEB_HOMES", "MEMORYWEB_TOKEN", "MEMORYWEB_URL"):
        monkeypatch.setenv(name, "x")
    said = [warning.msg for warning in environment_names_are_known()]
    assert said == ["MEMORYWEB_HOMES is not a setting of memoryweb."]


def test_settings_that_are_refused_make_no_home_and_no_key(tmp_path: Path):
    home = tmp_path / "home"
    environment = os.environ | {"MEMORYWEB_HOME": str(home), "MEMORYWEB_LOG_LEVEL": "loud"}
    ran = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert "MEMORYWEB_LOG_LEVEL must be one of" in ran.stderr
    assert not home.exists()


def test_an_origin_without_its_scheme_is_refused_by_the_setting_s_own_name():
    name = "MEMORYWEB_CSRF_TRUSTED_ORIGINS"
    known = ["https://memory.example", "http://127.0.0.1:8080"]
    assert env.origins(name, {name: ", ".join(known)}) == known
    with pytest.raises(ImproperlyConfigured, match=f"{name} must be origins, such as https://"):
        env.origins(name, {name: "https://memory.example, memory.example"})
