"""What the bodies of all requests have in common."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Unknown fields are refused, and no value is coerced into another type."""

    model_config = ConfigDict(strict=True, extra="forbid")
