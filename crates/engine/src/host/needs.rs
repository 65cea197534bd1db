//! What workloads want to be told by hosts.

use crate::by_class::ByClass;
use flitlab_model::workload::{Needs, Workload};

/// The needs of a workload, and of the workloads of which it consists. They never change.
pub(crate) struct HostNeeds {
    /// What any of them needs.
    pub any: Needs,
    /// By class.
    classes: ByClass<Needs>,
    /// Whether there are several, whose tags hold the class.
    are_several: bool,
}

impl HostNeeds {
    pub(super) fn new(workload: &dyn Workload) -> Self {
        Self {
            any: workload.needs(),
            classes: ByClass::new(|class| workload.of_class(class).needs()),
            are_several: !workload.by_class().is_empty(),
        }
    }

    /// The needs of a class's workload.
    #[inline]
    pub(super) fn of(&self, class: u8) -> Needs {
        self.classes[class]
    }

    /// The needs of the workload to which the message with this tag belongs.
    #[inline]
    pub(super) fn of_tag(&self, workload: &dyn Workload, tag: u64) -> Needs {
        if self.are_several { self.of(workload.class_of_tag(tag)) } else { self.any }
    }
}
