//! What the numbers in the graph stand for.
//!
//! Edges hold numbers, which are small and quick to compare and to copy. The texts behind them stand here, packed in chunks
//! that all states of the graph share until one of them changes a name in it.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::quality::RandomState;
use rpds::VectorSync;

use super::{Key, Kind};

/// The number of an object, with its kind in the upper bits. It means nothing without the [`Names`] of the same state: when
/// an object is gone, another may get its number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Id(u32);

/// Every number's object. A clone costs nothing, and neither sees what the other changes.
#[derive(Clone, Debug)]
pub(super) struct Names {
    chunks: VectorSync<Chunk>,
    /// Seeded anew in every process, so that nobody can choose names that meet.
    hasher: RandomState,
}

/// The names of [`CHUNK`] numbers in a row. Changing one copies the chunk, so it must not be large; each costs a pointer or
/// two, so it must not be small.
#[derive(Clone, Debug, Default)]
struct Chunk {
    /// Where each text ends; the longest names together are shorter than this can say.
    ends: Vec<u16>,
    /// The number of the kind as a character, then `namespace/name`, of all, one behind the other. Namespaces have no slash in
    /// them, and what a request asks for has none in its name either.
    text: String,
}

const CHUNK: usize = 64;
const NUMBER_BITS: u32 = 26;

/// Nothing in Kubernetes has a longer name or namespace.
pub(super) const MAX_NAME: usize = 253;

impl Id {
    pub(super) const MIN: Self = Self(u32::MIN);
    pub(super) const MAX: Self = Self(u32::MAX);

    /// Nothing if there are more than sixty million.
    pub(super) fn new(kind: Kind, number: usize) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|number| number >> NUMBER_BITS == 0)?;
        Some(Self((kind as u32) << NUMBER_BITS | number))
    }

    pub(super) fn number(self) -> usize {
        (self.0 & ((1 << NUMBER_BITS) - 1)) as usize
    }

    pub(super) fn kind(self) -> Kind {
        let kind = Kind::ALL.get((self.0 >> NUMBER_BITS) as usize);
        kind.copied().unwrap_or(Kind::Node)
    }

    fn place(self) -> (usize, usize) {
        (self.number() / CHUNK, self.number() % CHUNK)
    }
}

impl Default for Names {
    fn default() -> Self {
        Self {
            chunks: VectorSync::new_sync(),
            hasher: RandomState::default(),
        }
    }
}

impl Names {
    pub(super) fn hasher(&self) -> &RandomState {
        &self.hasher
    }

    /// As many bits of it as are kept.
    pub(super) fn hash(&self, key: Key<'_>) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key.namespace.as_bytes());
        hasher.write_u8(b'/');
        hasher.write(key.name.as_bytes());
        hasher.write_u8(key.kind as u8);
        hasher.finish() as u32
    }

    /// Of the namespace alone, wherever there are objects in it.
    pub(super) fn hash_namespace(&self, namespace: &str) -> u32 {
        self.hash(Key::cluster(Kind::Namespace, namespace))
    }

    pub(super) fn get(&self, id: Id) -> Option<Key<'_>> {
        let (chunk, at) = id.place();
        let (_, text) = self.chunks.get(chunk)?.get(at)?.split_at_checked(1)?;
        let (namespace, name) = text.split_once('/')?;
        let kind = id.kind();
        Some(Key { kind, namespace, name })
    }

    /// Every object there is, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, Key<'_>)> {
        let chunks = self.chunks.iter().zip((0..).step_by(CHUNK));
        let texts = chunks.flat_map(|(chunk, first)| chunk.texts().zip(first..));
        texts.filter_map(|(text, number)| {
            let (kind, text) = text.split_at_checked(1)?;
            let kind = *Kind::ALL.get(usize::from(*kind.as_bytes().first()?))?;
            let (namespace, name) = text.split_once('/')?;
            Some((Id::new(kind, number)?, Key { kind, namespace, name }))
        })
    }

    /// Whether the number stands for this very object.
    pub(super) fn is(&self, id: Id, key: Key<'_>) -> bool {
        id.kind() == key.kind && self.get(id) == Some(key)
    }

    /// Gives a number to an object. Numbers are given in order, or again after [`Self::clear`].
    pub(super) fn set(&mut self, id: Id, key: Key<'_>) {
        let kind = char::from(key.kind as u8);
        self.write(id, &format!("{kind}{}/{}", key.namespace, key.name));
    }

    pub(super) fn clear(&mut self, id: Id) {
        self.write(id, "");
    }

    fn write(&mut self, id: Id, text: &str) {
        let (chunk, at) = id.place();
        if chunk == self.chunks.len() {
            self.chunks.push_back_mut(Chunk::default());
        }
        if let Some(chunk) = self.chunks.get_mut(chunk) {
            chunk.set(at, text);
        }
    }
}

impl Chunk {
    fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        self.text.get(self.start(at)..usize::from(end))
    }

    /// In order; nothing for a number that nobody has.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let text = self.text.get(start..usize::from(*end)).unwrap_or_default();
            start = usize::from(*end);
            text
        })
    }

    fn start(&self, at: usize) -> usize {
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        before.copied().map_or(0, usize::from)
    }

    fn set(&mut self, at: usize, text: &str) {
        let start = self.start(at);
        match self.ends.get(at).copied().map(usize::from) {
            None => {
                self.text.push_str(text);
                self.ends.push((start + text.len()) as u16);
                if self.ends.len() == CHUNK {
                    // It will seldom grow again, and there are thousands like it.
                    self.text.shrink_to_fit();
                }
            }
            Some(end) => {
                self.text.replace_range(start..end, text);
                for later in self.ends.iter_mut().skip(at) {
                    *later = (usize::from(*later) + text.len() - (end - start)) as u16;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: usize) -> String {
        format!("secret-{number}")
    }

    fn secret(name: &str) -> Key<'_> {
        Key::new(Kind::Secret, "ns", name)
    }

    #[test]
    fn names_are_kept_changed_and_given_back() {
        let mut names = Names::default();
        let id = |number| Id::new(Kind::Secret, number).unwrap();
        let of = |kind, number| Id::new(kind, number).unwrap();
        for number in 0..200 {
            names.set(id(number), secret(&text(number)));
        }
        let before = names.clone();
        names.clear(id(70));
        let node = Key::cluster(Kind::Node, "a-rather-long-name");
        names.set(of(Kind::Node, 3), node);
        names.set(of(Kind::Pod, 4), Key::new(Kind::Pod, "n", "p"));
        assert_eq!(names.get(of(Kind::Node, 3)), Some(node));
        assert!(!names.is(id(3), node), "of another kind");
        assert_eq!(names.get(of(Kind::Pod, 4)), Some(Key::new(Kind::Pod, "n", "p")));
        assert_eq!(names.get(id(70)), None);
        assert_eq!(names.get(id(200)), None);
        for number in (0..200).filter(|number| ![3, 4, 70].contains(number)) {
            assert!(names.is(id(number), secret(&text(number))), "{number}");
        }
        let all: Vec<_> = names.iter().collect();
        assert_eq!(all.len(), 199);
        assert!(all.contains(&(of(Kind::Node, 3), node)) && all.iter().all(|(id, key)| names.is(*id, *key)));
        for number in 0..200 {
            assert!(before.is(id(number), secret(&text(number))), "{number}");
        }
    }
    #[test]
    fn the_longest_names_fit_into_a_chunk() {
        let longest = "x".repeat(MAX_NAME);
        let mut names = Names::default();
        let key = Key::new(Kind::Secret, &longest, &longest);
        for number in 0..CHUNK {
            names.set(Id::new(Kind::Secret, number).unwrap(), key);
        }
        for number in 0..CHUNK {
            assert!(names.is(Id::new(Kind::Secret, number).unwrap(), key));
        }
        assert_eq!(Id::new(Kind::Secret, 1 << NUMBER_BITS), None);
    }
}
