"""A repository with a history worth telling: what comes, changes, goes, comes back and moves."""

from __future__ import annotations

from pathlib import Path

from tests.gitrepo import Repo

GONE = "\n\ndef gone():\n    return one()\n"


def tell(root: Path, *, later: int = 12) -> Repo:
    """Commits on `main`, and `side`, which leaves the line after its second commit."""
    repo = Repo(root)
    repo.write("shop/cart.py", "def one():\n    return 1\n" + GONE)
    repo.write("shop/user.py", "from shop.cart import gone\n\n\ndef user():\n    return gone()\n")
    repo.commit("open the shop")
    repo.write("shop/cart.py", "def one():\n    return 11\n" + GONE)
    repo.commit("one becomes eleven")
    repo.git("branch", "side")
    repo.write("shop/cart.py", "def one(x=1):\n    return x\n")
    repo.write("shop/user.py", "def user():\n    return 0\n")
    repo.commit("close what is gone")
    repo.write("shop/cart.py", "def one(x=1):\n    return x\n\n\ndef gone():\n    return 2\n")
    repo.git("mv", "shop/user.py", "shop/client.py")
    repo.commit("gone comes back, user moves")
    repo.git("tag", "v1")
    for number in range(later):
        repo.write(f"step/m{number % 3}.py", f"def m{number % 3}():\n    return {number}\n")
        repo.commit(f"step {number}")
    repo.git("checkout", "-q", "side")
    repo.write("shop/side.py", "def side():\n    return 0\n")
    repo.commit("on the side")
    repo.git("checkout", "-q", "main")
    return repo
