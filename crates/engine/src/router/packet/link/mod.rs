//! Links that err, as routers have them that grant channels to whole packets: what is sent again, and
//! the bad copies that lie in buffers.

mod bad_copies;
mod repeat;
