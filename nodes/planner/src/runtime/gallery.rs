//! Pictures as an agent was given them.
//!
//! A command line may make a picture smaller or write it in another format before it
//! sends it to its model. The model shall see what our own planners would show it, the
//! same bytes in every request.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ruaflow_llm::{Image, Message, Part, Role};

/// Stands for a picture that is no PNG.
const UNREADABLE: &str = "[a picture that can't be read]";

/// The pictures of an episode, by the call that showed them; those of the first message
/// have no call.
#[derive(Default)]
pub(super) struct Gallery(Mutex<BTreeMap<String, Vec<Image>>>);

impl Gallery {
    /// Keeps the pictures that a call has shown.
    pub fn hang(&self, call: &str, images: Vec<Image>) {
        if !images.is_empty() {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(call.to_owned(), images);
        }
    }

    /// Puts them back in their places.
    pub fn restore(&self, messages: &mut [Message]) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = true;
        for message in messages.iter_mut().filter(|message| message.role == Role::User) {
            for part in &mut message.parts {
                if let Part::Answer(answer) = part
                    && let Some(images) = kept.get(&answer.id)
                {
                    put_back(&mut answer.parts, images);
                }
            }
            if std::mem::take(&mut first)
                && let Some(images) = kept.get("")
            {
                put_back(&mut message.parts, images);
            }
        }
    }
}

/// Only when all of them are there: else nobody knows which is which.
fn put_back(parts: &mut [Part], images: &[Image]) {
    let places = parts.iter_mut().filter(|part| is_picture(part));
    let places: Vec<&mut Part> = places.collect();
    if places.len() == images.len() {
        for (place, image) in places.into_iter().zip(images) {
            *place = Part::Image(image.clone());
        }
    }
}

fn is_picture(part: &Part) -> bool {
    match part {
        Part::Image(_) => true,
        Part::Text(text) => text == UNREADABLE,
        _ => false,
    }
}

/// A picture as it came: a PNG, or a place to put one back.
pub(super) fn received(bytes: Option<Vec<u8>>) -> Part {
    let image = bytes.and_then(Image::from_png);
    image.map_or_else(|| Part::text(UNREADABLE), Part::Image)
}

#[cfg(test)]
mod tests {
    use ruaflow_llm::Answer;

    use super::*;

    fn image(width: u32) -> Image {
        Image { png: vec![1, 2, 3].into(), width, height: 1 }
    }

    fn answer(parts: Vec<Part>) -> Part {
        Part::Answer(Answer { id: "c1".to_owned(), parts, failed: false })
    }

    #[test]
    fn pictures_that_were_changed_on_their_way_are_put_back() {
        let gallery = Gallery::default();
        gallery.hang("", vec![image(7)]);
        gallery.hang("c1", vec![image(1), image(2)]);
        gallery.hang("c2", Vec::new());
        let jpeg = || received(Some(b"\xff\xd8\xff".to_vec()));
        let mut messages = [
            Message::user(vec![Part::text("a task"), jpeg()]),
            Message::user(vec![
                answer(vec![Part::text("seen"), jpeg(), Part::Image(image(9))]),
                jpeg(),
            ]),
        ];
        gallery.restore(&mut messages);
        let seen = [Part::text("seen"), Part::Image(image(1)), Part::Image(image(2))];
        assert_eq!(messages[0].parts[1], Part::Image(image(7)));
        assert_eq!(messages[1].parts, [answer(seen.to_vec()), jpeg()]);
    }

    #[test]
    fn what_has_lost_a_picture_is_left_as_it_came() {
        let gallery = Gallery::default();
        gallery.hang("c1", vec![image(1), image(2)]);
        let parts = vec![answer(vec![Part::Image(image(9))])];
        let mut messages = [Message::user(parts.clone())];
        gallery.restore(&mut messages);
        assert_eq!(messages[0].parts, parts);
    }
}
