//! Netlists in both forms.

use flitlab::topology::netlist::Netlist;

use super::text;

/// A netlist of ibsim or of `ibnetdiscover`. What is written in either form is read as the same
/// fabric.
pub fn netlist(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let netlist = match Netlist::read(text) {
        Ok(netlist) => netlist,
        Err(error) => {
            assert!((1..=text.lines().count().max(1)).contains(&error.line), "{error}");
            return;
        }
    };
    let read =
        |written: &str| Netlist::read(written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    let written = netlist.text();
    assert_eq!(read(&written).text(), written);
    let discovered = netlist.discovered_text();
    let again = read(&discovered);
    assert_eq!(again.discovered_text(), discovered);
    assert_eq!(again.lids(), netlist.lids());
    assert_eq!(guids(&again), guids(&netlist));
}

/// The identifiers that both forms have.
fn guids(netlist: &Netlist) -> (Vec<u64>, Vec<(u64, u16, u64)>) {
    let switches = netlist.switches.iter().map(|switch| switch.guid);
    let adapters = netlist.adapters.iter();
    let ports = adapters.map(|adapter| (adapter.guid, adapter.port, adapter.port_guid));
    (switches.collect(), ports.collect())
}
