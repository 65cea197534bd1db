//! Forwarding tables in the files of OpenSM: checked, and saved.

use std::path::{Path, PathBuf};

use clap::Args;

use super::forwarding::judge;
use super::forwarding_report::ForwardingReport;
use super::{Failure, Route, read, refuse_file};
use crate::cli::folder;
use crate::cli::say::say;
use crate::cli::text::{counted, counted_are};
use flitlab::routing::{ForwardingTable, MANAGEMENT_LANE, MAX_VCS, VcAssignment};
use flitlab::scenario::Network;
use flitlab::tables::agnostic::find_vcs;
use flitlab::tables::opensm::{self, Dump, MAX_NODES, PathLevels};
use flitlab::topology::netlist::{Adapter, Netlist};
use flitlab::traces::formats::FileKind;

/// The files' names in a folder: those of OpenSM where it has such files.
const NETLIST: &str = "fabric.net";
/// The topology as `ibnetdiscover` writes it, for other programs.
const DISCOVERED: &str = "ibnetdiscover.txt";
const TABLES: &str = "opensm-lfts.dump";
const PATHS: &str = "paths.txt";
const MAP: &str = "opensm-sl2vl.dump";

/// The files beside a dump that is checked.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Files {
    /// The dump's fabric, as ibsim or ibnetdiscover have it [default: fabric.net in the folder]
    #[arg(long, value_name = "FILE", requires = "check")]
    pub netlist: Option<PathBuf>,
    /// The service levels of its paths: a line each of source LID, destination LID, service level
    /// [default: paths.txt in the folder, else 0 for all]
    #[arg(long, value_name = "FILE", requires = "check")]
    paths: Option<PathBuf>,
    /// Its maps from service levels to virtual channels [default: opensm-sl2vl.dump in the
    /// folder, else the one of the same number]
    #[arg(long, value_name = "FILE", requires = "check")]
    map: Option<PathBuf>,
    /// Of ports with several LIDs (LMC above 0), follow the tables of that LID which is so much above the
    /// first [default: 0]
    #[arg(long, value_name = "N", requires = "check", value_parser = clap::value_parser!(u16).range(..=127))]
    path_bits: Option<u16>,
    /// Look for virtual channels in which the dump's paths close no cycle, N at most, as LASH does,
    /// whatever OpenSM gave them
    #[arg(long, value_name = "N", requires = "check", conflicts_with_all = ["paths", "map"],
          value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_VCS)))]
    find_lanes: Option<u8>,
}

impl Files {
    /// A file that was named, or one of this name in the folder that is checked, if there is one.
    fn find(given: Option<&PathBuf>, checked: &Path, name: &str) -> Option<PathBuf> {
        let there = || Some(checked.join(name)).filter(|path| path.is_file());
        given.cloned().or_else(there)
    }
}

/// Checks a dump, or a folder with one.
pub(super) fn check(route: &Route, path: &Path) -> Result<(), Failure> {
    let files = &route.dump;
    let Some(netlist_path) = Files::find(files.netlist.as_ref(), path, NETLIST) else {
        return Err(Failure::input(format!(
            "{} has no {NETLIST}\nhelp: name the fabric: --netlist FILE, as ibsim or ibnetdiscover have \
             it",
            path.display()
        )));
    };
    let tables_path = if path.is_dir() { path.join(TABLES) } else { path.to_owned() };
    let text = read(&netlist_path)?;
    let netlist = Netlist::read(&text)
        .map_err(|error| refuse_file(&netlist_path, &text, FileKind::Netlist, &error))?;
    if let Some(first) = netlist.left_out.first() {
        say(&format!(
            "note: {} left out of the netlist, such as \"{}\"; entries for them are skipped",
            counted_are(netlist.left_out.len(), "adapter port"),
            first.name
        ));
    }
    let text = read(&tables_path)?;
    let most = netlist.adapters.iter().map(Adapter::lids).max().unwrap_or(1);
    let path_bits = files.path_bits.unwrap_or(0);
    if path_bits >= most {
        return Err(Failure::input(format!(
            "--path-bits {path_bits}: ports of {} have at most {most} local identifiers",
            netlist_path.display()
        )));
    }
    if most > 1 {
        say(&format!(
            "note: ports have up to {most} LIDs, and the tables of those {path_bits} above the first are checked; --path-bits \
             names others"
        ));
    }
    let mut dump = Dump::of_path_bits(&netlist, &text, path_bits)
        .map_err(|error| refuse_file(&tables_path, &text, FileKind::Tables, &error))?;
    let mut report = ForwardingReport::new(netlist_path.display().to_string(), &netlist.fabric);
    if let Some(vcs) = files.find_lanes {
        if find_vcs(&netlist.fabric, &mut dump.table, vcs).is_err() {
            return Err(Failure::Check(format!(
                "error: the paths of {} need more than {vcs} of the virtual channels that \
                 --find-lanes looks for",
                tables_path.display()
            )));
        }
        report.lanes = Some(vcs);
        report.lanes_from = Some("found for these paths, not those of the dump".into());
    } else {
        set_levels(files, path, &netlist, &mut dump, &mut report)?;
    }
    let vcs_unknown = report.lanes_unknown;
    match judge(route, report, &netlist.fabric, &dump.table)? {
        Some(mut lines) => {
            if vcs_unknown {
                lines += "\nhelp: so it is if all paths have service level 0; --paths FILE says which they have \
                          (`saquery PR --slid A --dlid B` tells), --find-lanes 8 looks for \
                          virtual channels without a cycle";
            }
            Err(Failure::Check(lines))
        }
        None => Ok(()),
    }
}

/// Gives a dump's paths the virtual channels that its files say.
fn set_levels(
    files: &Files,
    checked: &Path,
    netlist: &Netlist,
    dump: &mut Dump,
    report: &mut ForwardingReport,
) -> Result<(), Failure> {
    let paths_path = Files::find(files.paths.as_ref(), checked, PATHS);
    let map_path = Files::find(files.map.as_ref(), checked, MAP);
    report.lanes_unknown = paths_path.is_none();
    report.lanes_from = Some(match &paths_path {
        Some(path) => format!("by the service levels in {}", path.display()),
        None => format!(
            "no file has the service levels of the paths ({PATHS}); all are taken to have 0"
        ),
    });
    if paths_path.is_none() && map_path.is_none() {
        return Ok(());
    }
    let paths = paths_path.as_ref().map(|path| read(path)).transpose()?.unwrap_or_default();
    let map = map_path.as_ref().map(|path| read(path)).transpose()?;
    dump.set_levels(netlist, PathLevels { paths: &paths, map: map.as_deref() }).map_err(
        |(text, error)| {
            let (path, text, wanted) = match text {
                "map" => (map_path, map.as_deref().unwrap_or_default(), FileKind::Lanes),
                _ => (paths_path, paths.as_str(), FileKind::Levels),
            };
            refuse_file(&path.expect("it was read"), text, wanted, &error)
        },
    )
}

/// Whether a folder has a table that [`save`] wrote, and nothing else.
pub(super) fn is_in(folder: &Path) -> bool {
    let ours = [NETLIST, DISCOVERED, TABLES, MAP, PATHS];
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    folder.join(TABLES).is_file()
        && entries.all(|entry| {
            let name = entry.file_name();
            ours.iter().any(|own| name == *own) || name == folder::LOCK
        })
}

/// Writes a table and its fabric to a folder, as [`check`] and OpenSM read them.
pub(super) fn save(
    route: &Route,
    network: &Network,
    table: &ForwardingTable,
    folder: &Path,
) -> Result<(), Failure> {
    if matches!(table.vc_assignment(), VcAssignment::ByHop(_)) {
        return Err(Failure::input(
            "packets of this table change virtual channels by their destination, which no file of \
             OpenSM can say\n\
             help: without --save, the table is shown and proved",
        ));
    }
    let by_levels = matches!(table.vc_assignment(), VcAssignment::ByServiceLevel(_));
    if table.vc_count() > MANAGEMENT_LANE && !by_levels {
        return Err(Failure::input(format!(
            "packets of this table take virtual channel {MANAGEMENT_LANE}, which InfiniBand keeps for \
             management\n\
             help: make one with --lanes {MANAGEMENT_LANE}"
        )));
    }
    let nodes = (network.fabric.routers() + network.fabric.terminals()) as usize;
    if nodes > MAX_NODES {
        return Err(Failure::input(format!(
            "InfiniBand has local identifiers for {MAX_NODES} routers and terminals, and here are {nodes}"
        )));
    }
    let folder = folder::prepare_over("", Some(folder), |folder| route.force && is_in(folder))?;
    let netlist = network.topology.netlist().expect("there is its fabric");
    folder.fill(|| {
        folder::write(&folder.join(NETLIST), &netlist.text())?;
        folder::write(&folder.join(DISCOVERED), &netlist.discovered_text())?;
        folder::write(&folder.join(TABLES), &opensm::text(&netlist, table))?;
        match opensm::levels_text(&netlist, table) {
            Some((map, paths)) => {
                folder::write(&folder.join(MAP), &map)?;
                folder::write(&folder.join(PATHS), &paths)
            }
            // Files of a table that is replaced do not belong to this one.
            None => {
                let gone = |name: &&str| _ = std::fs::remove_file(folder.join(name));
                [MAP, PATHS].iter().for_each(gone);
                Ok(())
            }
        }
    })?;
    if let Some(first) = netlist.left_out.first() {
        let ports = netlist.left_out.len();
        let them = if ports == 1 { "it" } else { "them" };
        say(&format!(
            "note: the tables in {} have no ways to {} that topology.netlist.leave_out leaves out, such as \"{}\": a network that \
             takes them over cuts {them} off",
            folder.display(),
            counted(ports, "adapter port"),
            first.name
        ));
    }
    route.note(&format!("table in {}", folder.display()))
}
