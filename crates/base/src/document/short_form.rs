//! A table that may be written without the name of the one table that it has inside:
//! `[routing] rule = "ugal"` for `[routing.relation] rule = "ugal"`.

use super::{Diagnostic, Entry, Node, Table, Toml, Value};

/// What stands in `table` in place of its table `inside` if it has the key `key`: that key, and all
/// others that are no tables.
#[derive(Clone, Copy, Debug)]
pub struct ShortForm {
    /// The table: `routing`.
    pub table: &'static str,
    /// The key by which the short form is recognised: `rule`.
    pub key: &'static str,
    /// The table inside that is meant: `relation`.
    pub inside: &'static str,
}

impl Toml {
    /// Returns the tree with all that is written in a short form put where it belongs, wherever its
    /// table stands: in the document, or in the series and keys of a sweep. What is set later may be
    /// in the short form, too.
    #[must_use]
    pub fn with_short_form(mut self, form: ShortForm) -> Self {
        form.expand(&mut self.root, &mut self.problems);
        self.short_form = Some(form);
        self
    }
}

impl ShortForm {
    /// The path that is meant by one that may be in the short form. `has_inside`: the document has
    /// the table inside.
    pub(super) fn path<'p>(&self, path: &[&'p str], node: &Node, has_inside: bool) -> Vec<&'p str> {
        let mut meant = path.to_vec();
        let Some(place) = path.iter().position(|part| *part == self.table) else { return meant };
        let is_key = |part: &&str| *part == self.key;
        let is_value = place + 2 == path.len() && !matches!(node.value, Value::Table(_));
        if path.get(place + 1).is_some_and(is_key) || is_value && has_inside {
            meant.insert(place + 1, self.inside);
        }
        meant
    }

    /// Expands it in a table and in all below. Keys that stand in both places are problems.
    pub(super) fn expand(&self, table: &mut Table, problems: &mut Vec<Diagnostic>) {
        for entry in &mut table.entries {
            if entry.key == self.table
                && let Value::Table(own) = &mut entry.node.value
            {
                self.move_inside(own, problems);
            }
            self.expand_path(&mut entry.key);
            self.expand_node(&mut entry.node, problems);
        }
    }

    fn expand_node(&self, node: &mut Node, problems: &mut Vec<Diagnostic>) {
        match &mut node.value {
            Value::Table(table) => self.expand(table, problems),
            Value::List(list) => list.iter_mut().for_each(|it| self.expand_node(it, problems)),
            Value::Text(path) => self.expand_path(path),
            _ => {}
        }
    }

    /// Expands a path that is written as one text, as sweeps have it in keys and lists of keys.
    fn expand_path(&self, path: &mut String) {
        let Self { table, key, inside } = self;
        let short = format!("{table}.{key}");
        if *path == short || path.starts_with(&format!("{short}.")) {
            path.insert_str(table.len() + 1, &format!("{inside}."));
        }
    }

    fn move_inside(&self, table: &mut Table, problems: &mut Vec<Diagnostic>) {
        let Some(first) = table.entries.iter().position(|entry| entry.key == self.key) else {
            return;
        };
        let stays = |entry: &Entry| {
            entry.key != self.key && matches!(entry.node.value, Value::Table(_) | Value::Broken)
        };
        let (key_place, place) =
            (table.entries[first].key_place.clone(), table.entries[first].node.place.clone());
        let (stay, moved): (Vec<Entry>, Vec<Entry>) =
            std::mem::take(&mut table.entries).into_iter().partition(stays);
        table.entries = stay;
        if table.entry(self.inside).is_none() {
            let node = Node { value: Value::Table(Table::default()), place };
            table.entries.push(Entry { key: self.inside.into(), key_place, node });
        }
        let inside = table.entries.iter_mut().find(|entry| entry.key == self.inside);
        let Some(Entry { node: Node { value: Value::Table(inside), .. }, .. }) = inside else {
            return;
        };
        for entry in moved {
            if inside.entry(&entry.key).is_none() {
                inside.entries.push(entry);
                continue;
            }
            let Self { table, inside, .. } = self;
            let both = format!("`{}` stands in [{table}] and in [{table}.{inside}]", entry.key);
            problems.push(
                Diagnostic::new(&entry.key_place, both)
                    .label("here it means the same")
                    .help(format!("leave out one of them, or write all in [{table}]")),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: ShortForm = ShortForm { table: "routing", key: "rule", inside: "relation" };

    fn read(text: &str) -> Toml {
        Toml::parse("a.toml", text).with_short_form(FORM)
    }

    fn text(document: &Toml, path: &str) -> Option<String> {
        document.get(path).map(|node| node.place.text().to_owned())
    }

    #[test]
    fn a_short_form_is_read_as_the_long_one() {
        let document = read("[routing]\nrule = \"ugal\"\nlanes = 4\n");
        assert_eq!(text(&document, "routing.relation.rule").unwrap(), "\"ugal\"");
        assert_eq!(text(&document, "routing.relation.lanes").unwrap(), "4");
        assert!(document.get("routing.rule").is_none() && document.problems.is_empty());
        let inside = read("routing = { rule = { ugal = { threshold = 8 } } }\n");
        assert_eq!(text(&inside, "routing.relation.rule.ugal.threshold").unwrap(), "8");
        // Other tables stay what they are.
        for other in ["[routing.agnostic]\nalgorithm = \"nue\"\n", "routing = \"relation\"\n"] {
            assert_eq!(format!("{:?}", read(other).root), format!("{:?}", read(other).root));
            assert!(read(other).get("routing.relation").is_none());
        }
    }

    #[test]
    fn what_is_set_in_the_short_form_goes_beside_what_is_there() {
        for file in [
            "[routing]\nrule = { ugal = { threshold = 8 } }\n",
            "[routing.relation]\nrule = { ugal = { threshold = 8 } }\n",
        ] {
            let mut document = read(file);
            document.set("routing.rule.ugal.queues=\"port\"");
            document.set("routing.lanes=4");
            document.set("routing.relation.injection_lanes=1");
            let of_rule = |key: &str| text(&document, &format!("routing.relation.rule.ugal.{key}"));
            assert_eq!(of_rule("threshold").unwrap(), "8");
            assert_eq!(of_rule("queues").unwrap(), "\"port\"");
            assert_eq!(text(&document, "routing.relation.lanes").unwrap(), "4");
            assert_eq!(text(&document, "routing.relation.injection_lanes").unwrap(), "1");
            document.set("routing.rule=par");
            assert_eq!(text(&document, "routing.relation.rule").unwrap(), "par");
            document.set("routing={ rule = \"valiant\" }");
            assert_eq!(text(&document, "routing.relation.rule").unwrap(), "\"valiant\"");
            assert!(document.get("routing.relation.lanes").is_none());
        }
    }

    #[test]
    fn sweeps_may_have_it_too() {
        let document = read(
            "[sweep.grid]\nrouting.rule = [\"ugal\", \"par\"]\n[[sweep.x]]\nrouting = { rule = \"dal\" }\n",
        );
        assert!(document.get("sweep.grid.routing.relation.rule").is_some());
        let Value::List(list) = &document.get("sweep.x").unwrap().value else { panic!() };
        let Value::Table(series) = &list[0].value else { panic!() };
        let Value::Table(routing) = &series.get("routing").unwrap().value else { panic!() };
        assert!(routing.get("relation").is_some() && routing.get("rule").is_none());
        let quoted = read("[sweep.grid]\n\"routing.rule\" = [\"ugal\"]\n");
        let Value::Table(grid) = &quoted.get("sweep.grid").unwrap().value else { panic!() };
        assert_eq!(grid.entries[0].key, "routing.relation.rule");
        let zip = read("[sweep]\nzip = [[\"routing.rule\", \"traffic.load\"]]\n");
        let Value::List(groups) = &zip.get("sweep.zip").unwrap().value else { panic!() };
        let Value::List(group) = &groups[0].value else { panic!() };
        assert!(matches!(&group[0].value, Value::Text(path) if path == "routing.relation.rule"));
    }

    #[test]
    fn a_key_in_both_places_is_a_mistake() {
        let both = read("[routing]\nrule = \"ugal\"\n[routing.relation]\nrule = \"par\"\n");
        assert_eq!(both.problems.len(), 1);
        let apart = read("[routing]\nrule = \"ugal\"\n[routing.relation]\nlanes = 4\n");
        assert!(apart.problems.is_empty());
        assert_eq!(text(&apart, "routing.relation.lanes").unwrap(), "4");
    }
}
