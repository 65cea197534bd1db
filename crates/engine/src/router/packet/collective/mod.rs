//! The collective subnetwork of routers that grant whole packets
//! ([`router::collective`](crate::router::collective)).
//!
//! A router's **reduction unit** takes operands out of the buffers of the upper virtual channel and
//! makes results of them. It sends the results on from two queues of its own. Packets on the lower
//! virtual channel stay in their buffers until all their copies have been sent. Results and copies
//! ask for outputs as any other packet does, and take part in the arbitration.
//!
//! | module | what it is for |
//! |---|---|
//! | `reduction_unit` | taking operands, making results |
//! | `copies` | sending results and copies |

mod copies;
mod reduction_unit;
