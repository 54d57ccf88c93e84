"""Forms of the pages that belong to no single app."""

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm

from memoryweb.core.models import ApiToken, User

LONG_ENOUGH = "At least 10 characters, not a common one, not only digits."


class NewPerson(forms.Form):
    username = forms.CharField(max_length=150, widget=forms.TextInput({"autocomplete": "off"}))
    password = forms.CharField(
        widget=forms.PasswordInput({"autocomplete": "new-password"}), help_text=LONG_ENOUGH
    )
    role = forms.ChoiceField(choices=User.RoleName.choices)


class FirstAdministrator(forms.Form):
    username = forms.CharField(max_length=150, widget=forms.TextInput({"autofocus": True}))
    password = forms.CharField(
        widget=forms.PasswordInput({"autocomplete": "new-password"}), help_text=LONG_ENOUGH
    )


class ChangePassword(PasswordChangeForm):
    """Says of a password what the other forms say."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.fields["new_password1"].help_text = LONG_ENOUGH
        self.fields["new_password2"].help_text = ""
        self.fields["new_password2"].label = "New password again"


class ChangePerson(forms.Form):
    role = forms.ChoiceField(choices=User.RoleName.choices)
    active = forms.BooleanField(required=False)


class NewToken(forms.Form):
    name = forms.CharField(max_length=100, help_text="Who will use it: claude-code on my laptop.")
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, initial="write")
    agent_id = forms.CharField(
        max_length=200,
        required=False,
        label="Agent",
        help_text="The token then writes only as this agent.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=3650, required=False, label="Days", help_text="Empty: no end."
    )
