//! The whole gate before gardens: what gardenlets and extensions of seeds ask for through it, what they are told, what upstream has
//! seen of it and what it has stored. The same is tried where Gardener's kinds are custom resources and where a real
//! gardener-apiserver serves them.

mod bounds;
mod cases;
mod informers;
mod objects;
mod people;
mod seeds;
mod served;
mod small;
mod told;
mod world;
mod writes;
