"""Hooks are tried with a daemon too: its fixtures serve here as well."""

from tests.daemon.conftest import owned, shop, shop_root

__all__ = ["owned", "shop", "shop_root"]
