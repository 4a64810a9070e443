//! Texts that somebody else chose, so many at most.

use std::collections::HashMap;

/// What is known of each text. Texts have numbers, in the order they came.
#[derive(Debug)]
pub(super) struct Bounded<T> {
    numbers: HashMap<Box<str>, u32>,
    kept: Vec<(Box<str>, T)>,
    /// How many texts each node has brought.
    brought: HashMap<u32, usize>,
    most: usize,
    most_each: usize,
}

impl<T: Default> Bounded<T> {
    /// At most so many in all, and so many from one node: none can take the room of the others.
    pub(super) fn new(most: usize, most_each: usize) -> Self {
        Self {
            numbers: HashMap::new(),
            kept: Vec::new(),
            brought: HashMap::new(),
            most,
            most_each,
        }
    }

    /// Nothing if the text is new and there is no room for it.
    pub(super) fn entry(&mut self, text: &str, from: u32) -> Option<(u32, &mut T)> {
        let number = match self.numbers.get(text) {
            Some(number) => *number,
            None => self.add(text, from)?,
        };
        let (_, known) = self.kept.get_mut(number as usize)?;
        Some((number, known))
    }

    fn add(&mut self, text: &str, from: u32) -> Option<u32> {
        let brought = self.brought.get(&from).copied().unwrap_or_default();
        if self.kept.len() >= self.most || brought >= self.most_each {
            return None;
        }
        let number = u32::try_from(self.kept.len()).ok()?;
        self.brought.insert(from, brought + 1);
        self.numbers.insert(text.into(), number);
        self.kept.push((text.into(), T::default()));
        Some(number)
    }

    pub(super) fn name(&self, number: u32) -> Option<&str> {
        self.kept.get(number as usize).map(|(name, _)| &**name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.kept.iter().map(|(text, known)| (&**text, known))
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Bounded;

    #[test]
    fn one_node_cannot_take_the_room_of_others() {
        let mut texts = Bounded::<u64>::new(5, 3);
        for n in 0..100 {
            if let Some((_, count)) = texts.entry(&format!("planted-{n}"), 1) {
                *count += 1;
            }
        }
        assert_eq!(texts.len(), 3);
        assert!(texts.entry("of another", 2).is_some());
        assert!(texts.entry("planted-0", 2).is_some());
        assert!(texts.entry("one more", 2).is_some());
        assert!(texts.entry("beyond all of them", 3).is_none());
        assert_eq!(texts.name(3), Some("of another"));
    }
}
