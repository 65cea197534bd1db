//! Tells the crate whether it is compiled without optimisation, which no cfg of the compiler does: a
//! workspace that depends on flitlab has profiles of its own, and flitlab's are ignored there.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimised");
    }
}
