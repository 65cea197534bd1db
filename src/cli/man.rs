//! `flitlab man`: manual pages, made of the help texts.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::summary::print_text;
use super::{Failure, components, folder};

/// Print a manual page, or write all of them into a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab man compare | man -l -\n  \
    flitlab man --out ~/.local/share/man/man1\n\n\
    After the second, `man flitlab` and `man flitlab-sweep` show them.")]
pub(super) struct ManualPages {
    /// A subcommand [default: flitlab itself]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Folder for the pages of all commands; earlier pages of flitlab in it are replaced
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl ManualPages {
    pub(super) fn execute(&self) -> Result<(), Failure> {
        let pages = pages();
        let Some(out) = &self.out else {
            let own = components::name();
            let name = match self.command.as_deref() {
                Some(command) if command != own => format!("{own}-{command}"),
                _ => own,
            };
            return match pages.iter().find(|(page, _)| *page == name) {
                Some((_, page)) => print_text(page),
                None => Err(Failure::input(format!(
                    "there is no page {name}; there are {}",
                    pages.iter().map(|(page, _)| page.as_str()).collect::<Vec<_>>().join(", ")
                ))),
            };
        };
        let cannot = |cause| Failure::Run(format!("can't write to {}: {cause}", out.display()));
        fs::create_dir_all(out).map_err(cannot)?;
        for (name, page) in &pages {
            folder::write(&out.join(format!("{name}.1")), page)?;
        }
        print_text(&format!("{} pages in {}\n", pages.len(), out.display()))
    }
}

/// Name and text of each page.
fn pages() -> Vec<(String, String)> {
    let (own, whole) = (components::name(), components::command().disable_help_subcommand(true));
    let names: Vec<String> =
        whole.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let mut pages = vec![(own.clone(), page(&whole, &own, &names))];
    for command in whole.get_subcommands() {
        add_pages(command, &[&own], &mut pages);
    }
    pages
}

/// Adds the page of a command and those of its own subcommands.
fn add_pages(command: &Command, above: &[&str], pages: &mut Vec<(String, String)>) {
    let words = [above, &[command.get_name()]].concat();
    let name = words.join("-");
    let named = command.clone().bin_name(words.join(" ")).display_name(name.clone());
    let subcommands: Vec<&Command> =
        command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let names: Vec<String> =
        subcommands.iter().map(|it| [&words[1..], &[it.get_name()]].concat().join("-")).collect();
    pages.push((name.clone(), page(&named, &name, &names)));
    for command in subcommands {
        add_pages(command, &words, pages);
    }
}

fn page(command: &Command, name: &str, subcommands: &[String]) -> String {
    let mut page = Vec::new();
    // The text after the help is set here, line by line: the generator would run examples together.
    let rest = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = command.clone().version(env!("CARGO_PKG_VERSION")).after_help("");
    let man = Man::new(command).title(name).source(concat!("flitlab ", env!("CARGO_PKG_VERSION")));
    man.render_title(&mut page)
        .and_then(|()| man.render_name_section(&mut page))
        .and_then(|()| man.render_synopsis_section(&mut page))
        .and_then(|()| man.render_description_section(&mut page))
        .and_then(|()| man.render_options_section(&mut page))
        .and_then(|()| {
            if subcommands.is_empty() {
                return Ok(());
            }
            man.render_subcommands_section(&mut page)
        })
        .and_then(|()| closing(&rest, subcommands).to_writer(&mut page))
        .expect("memory takes all");
    String::from_utf8_lossy(&page).into_owned()
}

/// Examples as they stand, exit codes, other pages.
fn closing(after_help: &str, subcommands: &[String]) -> Roff {
    let mut roff = Roff::default();
    for paragraph in after_help.split("\n\n") {
        let (title, text) = match paragraph.split_once(':') {
            Some(("Examples" | "Example" | "Start with", text)) => ("EXAMPLES", text),
            Some(("Exit codes" | "Exit code", text)) => ("EXIT STATUS", text),
            _ => ("NOTES", paragraph),
        };
        if text.trim().is_empty() {
            continue;
        }
        roff.control("SH", [title]);
        let commands = title == "EXAMPLES";
        if commands {
            roff.control("nf", []);
        }
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            roff.text([roman(line)]);
        }
        if commands {
            roff.control("fi", []);
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    if subcommands.is_empty() {
        roff.text([bold(components::name()), roman("(1)")]);
    } else {
        let pages: Vec<String> =
            subcommands.iter().map(|name| format!("flitlab-{name}(1)")).collect();
        roff.text([roman(pages.join(", "))]);
    }
    roff
}
