"""The API's parser and renderer, by the same strict rules in both directions."""

from django.http import HttpRequest
from ninja.parser import Parser
from ninja.renderers import JSONRenderer
from ninja.responses import NinjaJSONEncoder
from ninja.types import DictStrAny

from memoryweb.core.strict_json import loads


class StrictParser(Parser):
    def parse_body(self, request: HttpRequest) -> DictStrAny:
        return loads(request.body)  # type: ignore[no-any-return]


class StrictRenderer(JSONRenderer):
    encoder_class = NinjaJSONEncoder
    json_dumps_params = {"ensure_ascii": False, "allow_nan": False}
