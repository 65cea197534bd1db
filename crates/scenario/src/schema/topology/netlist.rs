//! `[topology.netlist]`: a fabric as a file describes it.

use std::sync::Arc;

use crate::{
    TopologySpec,
    topology::{NetlistFile, Plan, SwitchedSpec},
};
use flitlab_base::document::{InputFile, Reader, Text, Variant, with_keys};
use flitlab_fabric::netlist::Netlist;

use super::failures;

pub(super) fn variant<'v, 'd>(seed: u64) -> Variant<'v, 'd, TopologySpec> {
    let doc =
        "A fabric of InfiniBand, from a netlist as ibsim reads it or as `ibnetdiscover` writes it.";
    with_keys("netlist", doc, move |reader: &mut Reader<'_>| {
        let kind = Text { what: "a file's path", example: "fabric.net" };
        let file = InputFile::required(reader, "path", &kind, "The netlist, beside the scenario.");
        let netlist = file.and_then(|file| {
            let read = Netlist::read(&file.text);
            let netlist = file.take(reader, read.map_err(|error| (error.line, error.message)))?;
            Some((file, netlist))
        });
        let fabric = netlist.as_ref().map(|(_, netlist)| &netlist.fabric);
        let failures = failures::read(reader, fabric, seed);
        let (file, netlist) = netlist?;
        let Netlist { fabric: whole, switches, adapters } = netlist;
        let (name, hash) = (file.name(), file.hash);
        let plan = Plan::Netlist(NetlistFile { name, switches, adapters, hash });
        Some(TopologySpec::Switched(Arc::new(SwitchedSpec { plan, failures, whole })))
    })
}
