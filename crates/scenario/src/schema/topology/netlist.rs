//! `[topology.netlist]`: a fabric as a file describes it.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::schema::foreign;
use crate::{
    TopologySpec,
    topology::{NetlistFile, Plan, SwitchedSpec},
};
use flitlab_base::document::{
    InputFile, List, Listed, Reader, Text, Variant, hexadecimal, with_keys,
};
use flitlab_fabric::netlist::{Adapter, LeaveOut, Netlist};
use flitlab_traces::formats::FileKind;

use super::failures;

pub(super) fn variant<'v, 'd>(seed: u64) -> Variant<'v, 'd, TopologySpec> {
    let doc =
        "A fabric of InfiniBand, from a netlist as ibsim reads it or as `ibnetdiscover` writes it.";
    with_keys("netlist", doc, move |reader: &mut Reader<'_>| {
        let kind = Text { what: "a file's path", example: "fabric.net" };
        let file = InputFile::required(reader, "path", &kind, "The netlist, beside the scenario.");
        let name = Text { what: "a name, with * for any text", example: "storage*" };
        let names = List { kind: name, noun: "names", length: 0..=usize::MAX, example: None };
        let doc = "Adapters that are no nodes, by their descriptions or names; a * stands for any text. If absent, \
                   those that are called \"Mellanox Technologies Aggregation Node\": the units in switches that do \
                   collective operations.";
        let named = reader.optional("leave_out", &names, doc).map(Listed::values);
        let leave_out = named.clone().map_or_else(LeaveOut::default, LeaveOut::new);
        let netlist = file.and_then(|file| {
            let read = Netlist::read_without(&file.text, &leave_out);
            let read = read.map_err(|error| (error.line, error.message));
            let netlist = foreign::take(&file, reader, FileKind::Netlist, read)?;
            Some((file, netlist))
        });
        let fabric = netlist.as_ref().map(|(_, netlist)| &netlist.fabric);
        let failures = failures::read(reader, fabric, seed);
        let (file, netlist) = netlist?;
        let mut notes = notes(&netlist, &file.name());
        if named.is_some() {
            notes.extend(leave_out.unmatched(&netlist.left_out).into_iter().map(|name| {
                format!("leave_out: no adapter of {} is called \"{name}\"", file.name())
            }));
        }
        let Netlist { fabric: whole, switches, adapters, left_out, messages: _ } = netlist;
        let (name, mut hash) = (file.name(), file.hash);
        // Adapters that are left out by default stand in no key but change results, so the hash has
        // them.
        if !left_out.is_empty() {
            let ids: Vec<&str> = left_out.iter().map(|it| it.id.as_str()).collect();
            hash = hexadecimal(&Sha256::digest(format!("{hash} without {}", ids.join("\n"))));
            let place = reader.path("path");
            reader.contents.insert(place, hash.clone());
        }
        let plan = Plan::Netlist(NetlistFile { name, switches, adapters, left_out, notes, hash });
        Some(TopologySpec::Switched(Arc::new(SwitchedSpec { plan, failures, whole })))
    })
}

/// What a user is to know of a netlist that was read.
fn notes(netlist: &Netlist, name: &str) -> Vec<String> {
    const SHOWN: usize = 4;
    let mut notes = Vec::new();
    if let Some(first) = netlist.left_out.first() {
        let fabric = &netlist.fabric;
        let ends = netlist.left_out.iter().take(SHOWN);
        let ends: Vec<String> = ends
            .map(|it| format!("{} port {}", fabric.router_name(it.router), it.router_port))
            .collect();
        let count = netlist.left_out.len();
        let more = if count > SHOWN { ", ..." } else { "" };
        let (ports, are) = if count == 1 { ("port", "is") } else { ("ports", "are") };
        notes.push(format!(
            "{count} adapter {ports} of {name} {are} left out, such as \"{}\": they send and receive nothing ({}{more}). \
             topology.netlist.leave_out = [] makes nodes of them",
            first.name,
            ends.join(", ")
        ));
    }
    if let Some(most) = netlist.adapters.iter().map(Adapter::lids).max().filter(|&most| most > 1) {
        notes.push(format!(
            "ports of {name} have up to {most} local identifiers (LMC above 0), each with paths of its own: a node is \
             sent to by one of them, the first, or as routing.opensm.path_bits says"
        ));
    }
    if netlist.messages > 0 {
        let lines = if netlist.messages == 1 { "line" } else { "lines" };
        notes.push(format!(
            "{} {lines} of {name} before its first node: messages of the tool that wrote it, skipped. Did it see \
             the whole fabric?",
            netlist.messages
        ));
    }
    notes
}
