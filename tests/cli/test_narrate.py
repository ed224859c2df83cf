"""`cm narrate`: says what it read and proposes, writes nothing, and tells what a model costs before it is asked."""

from __future__ import annotations

from cm_tui import paths
from tests.cli.conftest import Shop
from tests.cli.taught import teach

KEYS = {
    "dry_run", "episodes", "observations", "proposed", "changed", "withdrawn", "waiting", "approved", "seconds", "cost",
    "notes", "proposals",
}  # fmt: skip


def test_a_pass_and_the_next_one(new_shop: Shop):
    ids = teach(new_shop)
    trial = new_shop.cm("narrate", "--dry-run", "--json").json
    assert set(trial) == KEYS
    assert (trial["dry_run"], trial["episodes"]) == (True, len(ids))
    assert trial["proposed"] > 0
    assert "No sessions were analysed yet" in new_shop.cm("proposals").err
    done = new_shop.cm("narrate")
    assert done.code == 0, done.err
    assert f"read      {len(ids)} episodes" in done.out
    assert "would be" not in done.out
    assert "`cm proposals` lists" in done.err
    again = new_shop.cm("narrate", "--json").json
    assert (again["episodes"], again["proposed"], again["changed"], again["withdrawn"]) == (0, 0, 0, 0)
    assert again["waiting"] == trial["proposed"], "the same episodes twice give no second proposal"
    assert not (new_shop.root / ".cm" / "notes").exists(), "nothing is written before a person approves"


def test_only_what_is_new_since(new_shop: Shop):
    teach(new_shop)
    assert new_shop.cm("narrate", "--dry-run", "--since", "30d", "--json").json["proposed"] > 0
    assert new_shop.cm("narrate", "--dry-run", "--since", "1h", "--json").json["proposed"] == 0


def test_a_policy_tells_what_it_approved(new_shop: Shop):
    teach(new_shop)
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text('[narrator]\npolicy = "custom"\napprove = { command = 0.5 }\n')
    trial = new_shop.cm("narrate", "--dry-run")
    assert "approved without you" not in trial.err
    assert not (new_shop.root / ".cm" / "notes").exists()
    done = new_shop.cm("narrate", "--json")
    assert done.code == 0, done.err
    approved = done.json["approved"]
    assert approved
    listed = new_shop.cm("proposals", "list", "--by-policy", "--json").json["rows"]
    assert [(row["id"], row["state"]) for row in listed] == [(id_, "approved") for id_ in approved]
    assert listed[0]["decided_by"].startswith("policy")
    assert new_shop.cm("proposals", "undo", approved[0]).code == 0
    assert new_shop.cm("narrate", "--json").json["approved"] == [], "what was taken back is not approved again"


def test_what_a_model_costs_is_said_before(new_shop: Shop):
    teach(new_shop)
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(
        '[narrator.model]\nenabled = true\nname = "tiny"\nbase_url = "http://127.0.0.1:9/v1"\nmax_tokens = 1000\n'
    )
    assert new_shop.cm("narrate").code == 0
    (new_shop.root / ".cm").mkdir(exist_ok=True)
    done = new_shop.cm("narrate")
    assert done.code == 0, done.err
    assert "the model tiny is used: about" in done.err
    assert "at most 1,000 tokens" in done.err
    assert "model     tiny: 0 tokens" in done.out
