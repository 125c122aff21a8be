"""Kills a campaign 30 times at random and checks that its final table is an undisturbed one's.

    .venv/bin/python benches/kill_campaign.py [--kills 30] [--episodes 60] [--workers 2]

Half of the kills hit `rua eval` itself, the others a process of one of its dataflows:
`rua play`, dora, or a node; not the process that a cell runs in, whose death is the cell's
own and a result. All are SIGKILL. What was killed is started again until
nothing is left; then both campaigns must hold each scene once, with the same outcome,
cause and number of control steps, and no process may be left behind.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUA = ROOT / "bin/rua"
PICK_PLACE = ROOT / "benches/policies/pick_place.py"
CELL = "exe"  # what the kernel calls a process started from /proc/self/exe
SEEDS = 10  # of each task; the policy solves some of task 0


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=30)
    options.add_argument("--episodes", type=int, default=60)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--chance", type=int, default=0, help="seed of what is killed and when")
    given = options.parse_args()
    chance = random.Random(given.chance)

    folder = Path(tempfile.mkdtemp(prefix="ruaflow-kills-"))
    plan = folder / "plan.yml"
    plan.write_text(json.dumps(plan_of(given)))  # JSON is YAML
    calm, killed = Campaign(plan, folder / "calm"), Campaign(plan, folder / "killed")

    calm.play()
    hits = disturb(killed, given, chance)
    killed.play()

    one, other = calm.table(), killed.table()
    print(f"{len(hits)} kills: " + ", ".join(f"{name} {hits.count(name)}" for name in set(hits)))
    for key in sorted(one.keys() | other.keys()):
        if one.get(key) != other.get(key):
            print(f"{key}: undisturbed {one.get(key)}, killed {other.get(key)}")
    left = killed.processes()
    print(f"episodes: {len(one)} and {len(other)}; processes left: {len(left)}")
    if one != other or len(one) != given.episodes or left or len(hits) < given.kills:
        raise SystemExit(f"not the same; see {folder}")
    solved = sum(outcome == "solved" for outcome, *_ in one.values())
    print(f"the same table: {solved} of {len(one)} solved in both")


def plan_of(given):
    return {
        "suites": "libero_spatial",
        "tasks": f"0-{given.episodes // SEEDS - 1}",
        "seeds": f"0-{SEEDS - 1}",
        "workers": given.workers,
        # Each kill of a node may cost the same episode one more attempt.
        "retries": given.kills,
        "settings": {
            "planner": "script",
            "policy": str(PICK_PLACE),
            "perception": "none",
            "pictures": "off",
        },
        "players": {"script": {}},
    }


class Campaign:
    def __init__(self, plan, folder):
        self.plan, self.folder, self.running = plan, folder, None

    def start(self):
        """Starts `rua eval`, or goes on with what is left."""
        with open(f"{self.folder}.log", "ab") as log:
            command = [RUA, "eval", self.plan, "--out", self.folder]
            self.running = subprocess.Popen(command, stdout=log, stderr=log)

    def play(self):
        """Plays to the end; a start that fails is tried again, as a person would."""
        for _ in range(5):
            if self.running is None:
                self.start()
            code = self.running.wait()
            self.running = None
            if code == 0:
                return
        raise SystemExit(f"rua eval does not come to its end; see {self.folder}.log")

    def finished(self):
        """Episodes that the runs' results hold."""
        count = 0
        for path in self.folder.glob("runs/*/*/result.json"):
            episodes = json.loads(path.read_text()).get("episodes") or []
            count += sum(episode["status"] == "completed" for episode in episodes)
        return count

    def table(self):
        done = subprocess.run(
            [RUA, "summarize", self.folder, "--json"], capture_output=True, text=True, check=True
        )
        rows = {}
        for trial in json.loads(done.stdout)["episodes"]:
            key = tuple(trial["key"].values())
            assert key not in rows, f"{key} counts twice"
            rows[key] = (trial["outcome"], trial["cause"], trial["numbers"]["steps"])
        return rows

    def processes(self):
        """Every process below `rua eval`: its runs, dora and the nodes."""
        if self.running is None:
            mine = str(self.folder).encode()
            return [pid for pid, _, line in processes() if mine in line]
        below, found = {self.running.pid}, []
        for pid, parent, _ in processes():
            if parent in below:
                if Path(f"/proc/{pid}/comm").read_text().strip() == CELL:
                    continue
                below.add(pid)
                found.append(pid)
        return found


def processes():
    """Process, parent and command line of all, parents first."""
    for entry in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            status = Path(f"/proc/{entry}/stat").read_text()
            line = Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue  # it has just ended
        if line:
            yield entry, int(status.rpartition(")")[2].split()[1]), line


def disturb(campaign, given, chance):
    """Kills at random moments spread over the campaign; what was hit."""
    hits = []
    while len(hits) < given.kills:
        ripe = given.episodes * len(hits) / given.kills
        if campaign.running is None:
            campaign.start()
        while campaign.finished() < ripe:
            if campaign.running.poll() is not None:
                campaign.start()  # it gave up after a dataflow was killed
            time.sleep(0.05)
        time.sleep(chance.uniform(0, 1.5))
        below = campaign.processes()
        if below and chance.random() < 0.5:
            victim = chance.choice(below)
            try:
                name = Path(f"/proc/{victim}/comm").read_text().strip()
                os.kill(victim, signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended; the next one is hit
        else:
            name = "rua eval"
            campaign.running.kill()
            campaign.running.wait()
            campaign.running = None
        hits.append(name)
    return hits


if __name__ == "__main__":
    main()
