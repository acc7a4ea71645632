"""A real SLURM cluster on one machine: munged, MariaDB, slurmdbd, slurmctld and two slurmd.

Debian's packages are enough: `apt-get install slurm-wlm slurmdbd munge mariadb-server`. Everything
lies in one folder, on ports of its own: daemons of the machine are not touched. Each node pretends
to have 8 cores and one GPU. To use it by hand:

    python -m tests.workflow.cluster sinfo          # start, run the command, stop
    python -m tests.workflow.cluster bash
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

DAEMONS = ("munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sbatch")
NODES = ("one", "two")
MARK = "FASTDECODE_TEST_NODE"  # in the environment of a node's daemon
NODE_LOST = 15  # seconds without a sign of life after which a node counts as lost
DBD = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdPort={dbd}
SlurmUser={user}
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass=slurm
StorageLoc=accounting
LogFile={folder}/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""
CONF = """\
ClusterName=fastdecode
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctl}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SlurmdTimeout={lost}
KillWait=5
ReturnToService=2
MinJobAge=300
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePass={folder}/munge.socket
AccountingStoragePort={dbd}
AccountingStorageTRES=gres/gpu
AccountingStoreFlags=job_comment
SchedulerParameters=batch_sched_delay=1,sched_interval=5
{nodes}
PartitionName=tests Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
    "CPUs=8 RealMemory={memory} Gres=gpu:1 State=UNKNOWN"
)
GRES = "NodeName={name} Name=gpu File=/dev/{device}"
# Snakemake's plug-in starts srun without SLURM's variables, this one too.
SRUN = """\
#!/bin/sh
SLURM_CONF={conf} exec {srun} "$@"
"""
DEVICES = ("null", "zero")  # stand for a GPU


def why_not() -> str | None:
    """Return why no cluster can be started here, or None."""
    missing = [name for name in DAEMONS if not _which(name)]
    if missing:
        return f"SLURM is not installed here: no {', '.join(missing)}"
    if os.getuid():
        return "SLURM's daemons start as root alone"
    return None


class Cluster:
    """The daemons, from `with` to its end."""

    def __init__(self, folder: Path):
        """Lay the configuration out below `folder`, whose path must be short, for sockets."""
        self.folder = folder
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._dbd, self._sql, ctl, *ports = _free_ports(3 + len(NODES))
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        nodes = [
            NODE.format(name=name, host=host, port=port, memory=memory)
            for name, port in zip(NODES, ports, strict=True)
        ]
        gres = [GRES.format(name=n, device=d) for n, d in zip(NODES, DEVICES, strict=True)]
        values = {"folder": folder, "host": host, "user": user, "dbd": self._dbd, "sql": self._sql}
        for name, text in (
            ("slurm.conf", CONF.format(**values, ctl=ctl, lost=NODE_LOST, nodes="\n".join(nodes))),
            ("gres.conf", "\n".join(gres) + "\n"),
            ("slurmdbd.conf", DBD.format(**values)),
        ):
            (folder / name).write_text(text)
            (folder / name).chmod(0o600)
        (folder / "state").mkdir(exist_ok=True)
        conf, programs = folder / "slurm.conf", folder / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "srun").write_text(SRUN.format(conf=conf, srun=_which("srun")))
        (programs / "srun").chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self.environment = {**os.environ, "SLURM_CONF": str(conf), "PATH": path}

    def __enter__(self) -> "Cluster":
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        key, data = self.folder / "munge.key", self.folder / "sql"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.folder.chmod(0o755)
        self.daemon(
            *("munged", "--foreground", "--force", f"--key-file={key}"),
            *(f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid"),
            *(f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed"),
        )
        who = f"--user={getpass.getuser()}"
        subprocess.run(
            [_which("mariadb-install-db"), "--no-defaults", who, f"--datadir={data}"],
            check=True,
            capture_output=True,
        )
        setup = self.folder / "setup.sql"
        setup.write_text(
            "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';\n"
            "GRANT ALL ON accounting.* TO slurm@'127.0.0.1';\n"
        )
        self.daemon(
            *("mariadbd", "--no-defaults", who, f"--datadir={data}", f"--port={self._sql}"),
            *("--bind-address=127.0.0.1", f"--socket={self.folder}/sql.socket"),
            *("--skip-name-resolve", f"--init-file={setup}", "--innodb-lock-wait-timeout=900"),
        )
        _wait_for_port(self._sql)
        self.daemon("slurmdbd", "-D")
        _wait_for_port(self._dbd)
        self.call("sacctmgr", "-i", "add", "cluster", "fastdecode")
        self.daemon("slurmctld", "-D", "-c")
        for node in NODES:
            self.start_node(node)
        self.wait(lambda: self.call("sinfo", "-h", "-o", "%D %T") == f"{len(NODES)} idle", 60)

    def daemon(self, name: str, *arguments: str, key: str | None = None, **more: str) -> None:
        """Start a daemon in the foreground of a session of its own."""
        key = key or name
        with (self.folder / f"{key}.out").open("ab") as out:
            self._daemons[key] = subprocess.Popen(
                [_which(name), *arguments],
                env=self.environment | more,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def start_node(self, node: str) -> None:
        """Start the daemon of a node."""
        self.daemon("slurmd", "-D", "-N", node, key=f"slurmd.{node}", **{MARK: node})

    def kill_node(self, node: str) -> None:
        """Let a node die as by a power cut: its daemon, and all that runs on it."""
        daemon = self._daemons.pop(f"slurmd.{node}")
        daemon.kill()
        for pid in self.processes(node):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        daemon.wait()

    def processes(self, node: str) -> list[int]:
        """Return what runs on a node: its daemon, its steps (which inherit), and their tasks."""
        own = f"SLURM_CONF={self.folder}/slurm.conf"
        return [
            pid
            for pid, environment in _environments()
            if own in environment
            and {f"{MARK}={node}", f"SLURMD_NODENAME={node}"} & set(environment)
        ]

    def call(self, *command: str) -> str:
        """Run a command of SLURM's and return what it says, stripped."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def queue(self) -> list[str]:
        """Return the numbers of jobs that wait, run or end."""
        return self.call("squeue", "-h", "-o", "%i").split()

    def wait(self, condition: Callable[[], object], seconds: float, every: float = 0.5) -> None:
        """Wait until `condition()` holds. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while True:
            with suppress(RuntimeError):  # not up yet
                if condition():
                    return
            if time.monotonic() > end:
                raise TimeoutError(f"in vain; see the logs in {self.folder}")
            time.sleep(every)

    def stop(self) -> None:
        """End all jobs and daemons."""
        if "slurmctld" in self._daemons:
            with suppress(RuntimeError, TimeoutError, subprocess.TimeoutExpired):
                self.call("scancel", "--user", getpass.getuser())
                self.wait(lambda: not self.queue(), 30)
        for process in reversed(self._daemons.values()):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._daemons.clear()


def _which(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _environments() -> Iterator[tuple[int, list[str]]]:
    """Yield (process, its environment) for every process that may be read."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                yield int(entry.name), (entry / "environ").read_text(errors="replace").split("\0")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _wait_for_port(port: int, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def main() -> int:
    """Run a command beside a cluster."""
    reason = why_not()
    if reason:
        sys.exit(f"error: {reason}")
    with tempfile.TemporaryDirectory(prefix="slurm") as folder, Cluster(Path(folder)) as cluster:
        return subprocess.run(sys.argv[1:], env=cluster.environment).returncode


if __name__ == "__main__":
    sys.exit(main())
