//! The tools, the notices and the policies against the in-memory registry.

#[cfg(test)]
mod definitions;
#[cfg(test)]
mod forgery;
#[cfg(test)]
mod notices;
#[cfg(test)]
mod paging;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod situations;
#[cfg(test)]
mod slow;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod waits;
#[cfg(test)]
mod world;
