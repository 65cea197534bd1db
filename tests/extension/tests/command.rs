//! The program of this crate: the whole command line with its components, run as a user runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SWEEP: &str = "title = 'Best of'\n[topology.hyperx]\ndimensions = [4, 4]\nterminals = 2\n\
                     [router]\nvirtual_channels = 4\n[routing]\nrule = 'best-of'\n\
                     [traffic]\npattern = { stride = { by = 5 } }\n\
                     [measure]\nwindow = '1 us'\nwarm_up_windows = 2\nminimum_windows = 4\n\
                     maximum_windows = 4\n[sweep.grid]\ntraffic.load = [0.1, 0.2, 0.3]\n";

/// A new folder, which goes away with the test.
struct Workplace(PathBuf);

impl Workplace {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn call(&self, words: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_flitlab-extension");
        Command::new(program).args(words).current_dir(&self.0).output().unwrap()
    }

    /// Standard output of a call that must succeed.
    fn run(&self, words: &[&str]) -> String {
        let output = self.call(words);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Exit code and standard error of a call.
    fn fail(&self, words: &[&str]) -> (i32, String) {
        let output = self.call(words);
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn a_sweep_with_its_components_is_simulated_drawn_and_reported() {
    let place = Workplace::new("own_sweep");
    place.write("a.toml", SWEEP);
    contains(&place.run(&["check", "a.toml"]), &["HyperX", "detours are longer"]);
    place.run(&["sweep", "a.toml", "--threads", "2", "--out", "out"]);
    assert_eq!(place.read("out/points.csv").lines().count(), 4);
    contains(
        &place.read("out/scenario.toml"),
        &[
            "# routing.relation.rule.best-of is not built in: it comes from flitlab-extension 0.3.1",
            "candidates = 2",
        ],
    );
    contains(&place.read("out/hops.svg"), &["Mean hops", "Best of"]);
    // Results are read again, with what they name.
    place.run(&["plot", "out", "--only", "hops", "--format", "svg", "--out", "figures"]);
    assert_eq!(fs::read_dir(place.0.join("figures")).unwrap().count(), 1);
    contains(&place.read("figures/hops.svg"), &["Mean hops"]);
    place.run(&["report", "out", "-o", "page.html"]);
    contains(
        &place.read("page.html"),
        &[
            "Mean hops of packets over offered load",
            "flitlab-extension sweep scenario.toml",
            "best-of",
        ],
    );
    contains(&place.run(&["compare", "out", "out"]), &["same: event by event, 3 points"]);
    let again = place.run(&["sweep", "a.toml", "--out", "out", "--resume", "--json"]);
    contains(&again, &["\"points\""]);
    let (code, said) = place.fail(&["sweep", "a.toml", "--out", "out"]);
    assert_eq!(code, 2);
    contains(&said, &["out"]);
}

#[test]
fn a_misspelt_name_of_a_component_is_told_the_right_one() {
    let place = Workplace::new("own_misspelt");
    place.write("a.toml", &SWEEP.replace("best-of", "best-off"));
    for command in ["check", "sweep"] {
        let (code, said) = place.fail(&[command, "a.toml"]);
        assert_eq!(code, 2);
        contains(&said, &["there is no rule `best-off`", "did you mean `best-of`?", "a.toml:8"]);
    }
    let (code, said) = place.fail(&["init", "b.toml", "--routing", "best-off"]);
    assert_eq!(code, 2);
    contains(&said, &["best-of"]);
    let (code, said) = place.fail(&["plot", "out", "--only", "hopps"]);
    assert_eq!(code, 2);
    contains(&said, &["'hops'"]);
}

#[test]
fn init_offers_its_components_and_names_its_own_commands() {
    let place = Workplace::new("own_init");
    let said = place.run(&[
        "init",
        "a.toml",
        "--topology",
        "dragonfly",
        "--routing",
        "best-of",
        "--defaults",
    ]);
    contains(&said, &["flitlab-extension check a.toml", "flitlab-extension sweep a.toml"]);
    contains(
        &place.read("a.toml"),
        &["rule = \"best-of\"", "# flitlab-extension sweep a.toml", "`flitlab-extension check"],
    );
    place.run(&["check", "a.toml"]);
    place.run(&["init", "b.toml", "--topology", "leaf_spine", "--defaults"]);
    contains(&place.read("b.toml"), &["[topology.leaf_spine]", "algorithm = \"up-down\""]);
    place.run(&["check", "b.toml"]);
}

#[test]
fn help_completions_and_the_reference_list_its_components() {
    let place = Workplace::new("own_help");
    contains(
        &place.run(&["--version"]),
        &["flitlab-extension (flitlab 0.1.0 with flitlab-extension 0.3.1)"],
    );
    contains(&place.run(&["--help"]), &["flitlab-extension <COMMAND>", "flitlab-extension init"]);
    contains(&place.run(&["init", "--help"]), &["best-of", "leaf_spine"]);
    contains(&place.run(&["plot", "--help"]), &["hops", "flitlab-extension plot"]);
    contains(&place.run(&["route", "--help"]), &["one-root"]);
    contains(
        &place.run(&["completions", "bash"]),
        &["complete -F _flitlab__extension", "best-of", "hops"],
    );
    contains(&place.run(&["man", "plot"]), &["flitlab-extension-plot"]);
    contains(
        &place.run(&["check", "--reference", "best-of"]),
        &["How many detours a packet draws. A whole"],
    );
    contains(&place.run(&["schedule", "--list"]), &["token-ring"]);
    let (code, said) = place.fail(&["schedule", "token-ring", "--ranks", "4"]);
    assert_eq!(code, 2);
    contains(&said, &["token-ring has keys of its own"]);
}

#[test]
fn route_makes_its_tables_and_compares_them() {
    let place = Workplace::new("own_route");
    place.write("a.toml", "[topology.tree]\narity = 2\nlevels = 3\n");
    contains(&place.run(&["route", "a.toml", "--algorithm", "one-root"]), &["one-root"]);
    contains(&place.run(&["route", "a.toml", "--compare"]), &["one-root", "up-down"]);
}

/// Job scripts call the executable that wrote them, so tasks know what the sweep named.
#[test]
#[cfg(unix)]
fn tasks_of_a_job_array_are_of_the_same_program() {
    use std::os::unix::fs::PermissionsExt;
    let place = Workplace::new("own_tasks");
    place.write("a.toml", SWEEP);
    // In place of Slurm's commands, which this needs no answers of.
    for command in ["sbatch", "scontrol", "squeue", "sacct"] {
        place.write(command, "#!/bin/sh\necho 'MaxArraySize = 1000'\n");
        let all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(place.0.join(command), all).unwrap();
    }
    let with_slurm = |words: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", place.0.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_flitlab-extension"));
        let output = command.args(words).current_dir(&place.0).env("PATH", path).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{words:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    let submit = ["sweep", "a.toml", "--executor", "slurm", "--no-submit", "--out", "out"];
    contains(&with_slurm(&submit), &["flitlab-extension sweep status out"]);
    contains(&place.read("out/slurm/1/job.sh"), &["flitlab-extension sweep task"]);
    for task in ["0", "1", "2"] {
        place.run(&["sweep", "task", "out/slurm/1", task]);
    }
    place.run(&["sweep", "collect", "out"]);
    assert_eq!(place.read("out/points.csv").lines().count(), 4);
}

#[test]
fn a_run_goes_on_from_its_checkpoint() {
    let place = Workplace::new("own_checkpoint");
    place.write("a.toml", SWEEP);
    let run =
        ["run", "a.toml", "--set", "traffic.load=0.2", "--checkpoint", "state", "--out", "out"];
    place.run(&run);
    assert_eq!(place.read("out/points.csv").lines().count(), 2);
}
