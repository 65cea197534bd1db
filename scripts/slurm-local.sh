#!/usr/bin/env bash
# A real Slurm of one node with two cores on this machine, to try job arrays without a cluster.
#
#   scripts/slurm-local.sh start [FOLDER]     installs it if it is missing, starts it, says what to set
#   scripts/slurm-local.sh status [FOLDER]    whether it runs; its partition and its jobs
#   scripts/slurm-local.sh stop [FOLDER]      ends its jobs and itself, and removes the folder
#
# In one go:  eval "$(scripts/slurm-local.sh start)"  and then sbatch, squeue, flitlab sweep ...
#
# FOLDER   holds all that it writes: configuration, key, state, logs
#          (default: flitlab-slurm in $TMPDIR or /tmp); several folders are several Slurms
#
# It uses Debian's packages slurm-wlm and munge, runs as root, listens on 127.0.0.1, and writes nothing
# outside FOLDER. It has no accounting (no slurmdbd), no cgroups and no systemd, and so runs in containers.
set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin

say() {
    echo "slurm-local: $*" >&2
}

fail() {
    say "$@"
    exit 1
}

usage() {
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0" >&2
    exit 2
}

[ $# -ge 1 ] && [ $# -le 2 ] || usage
folder=$(realpath -m -- "${2:-${TMPDIR:-/tmp}/flitlab-slurm}")
# Tells our folder from anybody else's.
mark=$folder/made-by-slurm-local
# How long Slurm may take to be idle, in seconds.
patience=30

needs_root() {
    [ "$(id -u)" -eq 0 ] || fail "$1 needs root: run it with sudo, or in a container"
}

installed() {
    command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null &&
        command -v mungekey >/dev/null && command -v sbatch >/dev/null
}

install_packages() {
    installed && return
    needs_root "installing slurm-wlm and munge"
    command -v apt-get >/dev/null ||
        fail "there is no Slurm here and no apt-get: install slurmctld, slurmd, sbatch and munge first"
    say "installing slurm-wlm and munge"
    # Installing starts the services only where there is systemd; without a slurm.conf they end at once.
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        slurm-wlm munge; } >"$folder/install.log" 2>&1 ||
        fail "they could not be installed:" "$(tail -n 5 "$folder/install.log")"
    installed || fail "slurm-wlm and munge are installed, yet slurmctld, slurmd, munged or sbatch is missing"
}

# Chooses the name and address that Slurm uses. It listens where its machine's name leads to, which should be
# 127.0.0.1: where it is not, Slurm gets the name localhost for itself, if the system lets it.
choose_host() {
    host=$(hostname)
    address=$(address_of "$host")
    apart=()
    if [[ $address != 127.* ]] && unshare --uts hostname localhost 2>/dev/null; then
        host=localhost
        address=127.0.0.1
        apart=(unshare --uts sh -c 'hostname localhost && exec "$@"' sh)
    fi
    [ -n "$address" ] || fail "this machine's name, $host, leads nowhere: add '127.0.0.1 $host' to /etc/hosts"
    [[ $address == 127.* ]] || say "listening on $address, not on 127.0.0.1, since $host is there"
    host=${host%%.*}
}

# The address that a name leads to; empty if it leads nowhere.
address_of() {
    { getent ahostsv4 "$1" || true; } | awk 'NR == 1 { print $1 }'
}

# Two ports that nobody listens on.
free_ports() {
    local port found=()
    # Where to begin differs, so that two that start at once do not choose the same.
    for ((port = 16817 + $$ % 1000; port < 18817 && ${#found[@]} < 2; port++)); do
        (exec 3<>"/dev/tcp/$address/$port") 2>/dev/null || found+=("$port")
    done
    [ "${#found[@]}" -eq 2 ] || fail "no two free ports from 17816 to 18816 on $address"
    echo "${found[@]}"
}

configure() {
    local ports memory
    ports=$(free_ports)
    memory=$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo)
    mkdir -p "$folder/state" "$folder/spool"
    cat >"$folder/slurm.conf" <<END
# Written by flitlab's scripts/slurm-local.sh.
ClusterName=local
SlurmctldHost=$host($address)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
# Not to be reached from outside.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
# No cgroups, so that it runs in containers.
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
# Tasks start within a second, as they would on a cluster with nothing else to do.
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MailProg=/bin/true
ReturnToService=2
# Two cores, whatever the machine has.
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=$address CPUs=2 RealMemory=$memory State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

# Whether a process runs and is a daemon of this name. Its pid file goes before the daemon does.
runs() {
    [[ $(ps -o stat=,comm= -p "$2" 2>/dev/null) =~ ^[^Z\ ]+\ +$1 ]]
}

# Waits until a command succeeds.
await() {
    local end=$((SECONDS + patience))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

idle() {
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]
}

no_jobs() {
    [ -z "$(squeue --noheader 2>/dev/null)" ]
}

gone() {
    ! runs "$@"
}

start() {
    needs_root "starting Slurm"
    ! [ -e /etc/slurm/slurm.conf ] && ! [ -e /etc/slurm-llnl/slurm.conf ] ||
        fail "this machine has a /etc/slurm/slurm.conf and so belongs to a cluster already: use that one"
    # It stands in slurm.conf, and the path of a socket in it must not be longer.
    [[ $folder =~ ^[A-Za-z0-9/._+-]{1,80}$ ]] ||
        fail "$folder can't be used: name a folder of at most 80 letters, digits and ._+-"
    if [ -e "$mark" ]; then
        fail "$folder is in use: see 'status', or 'stop' it first"
    elif [ -e "$folder" ] && [ -n "$(ls -A "$folder")" ]; then
        fail "$folder has something in it that this script did not write: name another folder"
    fi
    mkdir -p "$folder"
    chmod 755 "$folder"
    echo "Made by flitlab's scripts/slurm-local.sh, which also removes it." >"$mark"
    install_packages
    choose_host
    configure
    export SLURM_CONF=$folder/slurm.conf
    mungekey --create --keyfile="$folder/munge.key"
    munged --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" --origin=127.0.0.1 ||
        fail "munged did not start:" "$(tail -n 5 "$folder/munged.log")"
    "${apart[@]}" slurmctld || fail "slurmctld did not start:" "$(tail -n 5 "$folder/slurmctld.log")"
    "${apart[@]}" slurmd -N "$host" ||
        fail "slurmd did not start:" "$(tail -n 5 "$folder/slurmd.log")"
    await idle ||
        fail "after $patience s the node is still not idle; the last lines of its logs:" \
            "$(tail -n 5 "$folder/slurmctld.log" "$folder/slurmd.log")"
    say "a Slurm with the partition batch of one node with two cores runs in $folder"
    say "for sbatch, squeue and flitlab to find it, set:"
    echo "export SLURM_CONF=$SLURM_CONF"
}

status() {
    [ -e "$mark" ] || fail "there is no Slurm in $folder: start it with scripts/slurm-local.sh start"
    export SLURM_CONF=$folder/slurm.conf
    [ -s "$SLURM_CONF" ] || fail "it was not started to the end; 'stop' it"
    sinfo || fail "it does not answer; its logs are in $folder"
    squeue
}

stop() {
    [ -e "$mark" ] || fail "there is no Slurm in $folder"
    needs_root "stopping Slurm"
    export SLURM_CONF=$folder/slurm.conf
    # Without its jobs killed first, their processes would stay.
    if [ -S "$folder/munge.socket" ] && sinfo >/dev/null 2>&1; then
        scancel --partition=batch --state=PENDING 2>/dev/null || true
        scancel --partition=batch --signal=KILL --full 2>/dev/null || true
        await no_jobs || say "some jobs do not end; their processes may be left behind"
    fi
    local daemon pid
    for daemon in slurmd slurmctld munged; do
        pid=$(cat "$folder/$daemon.pid" 2>/dev/null || true)
        [ -n "$pid" ] && runs "$daemon" "$pid" || continue
        kill "$pid" 2>/dev/null || true
        await gone "$daemon" "$pid" || kill -KILL "$pid" 2>/dev/null || true
    done
    rm -rf "$folder"
    say "stopped"
}

case $1 in
start | status | stop) "$1" ;;
*) usage ;;
esac
