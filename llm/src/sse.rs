//! Server-sent events, as far as model servers use them.
//!
//! Source: the WHATWG HTML standard, "Interpreting an event stream". Ids and
//! reconnection times are left out: no model server resumes a reply.

/// The longest event that is read. A reply's last event may hold all of it again.
const LONGEST: usize = 32 << 20;

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The event's type; empty when the server gives none.
    pub name: String,
    /// Its lines, joined.
    pub data: String,
}

/// Takes a stream apart into events, however it is cut into pieces.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_cr: bool,
    after_first_line: bool,
}

/// An event that doesn't end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Parser {
    /// Takes the next piece of the stream and gives the events it completes.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = piece;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r');
            self.line.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            if self.line.len() + self.event.data.len() > LONGEST {
                return Err(TooLong);
            }
            let Some(end) = end else { break };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line());
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let mut line: &str = &line;
        if !std::mem::replace(&mut self.after_first_line, true) {
            line = line.trim_start_matches('\u{feff}');
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // A comment, or a field of no use here.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.to_owned() }
    }

    fn whole(text: &str) -> Vec<Event> {
        Parser::default().push(text.as_bytes()).unwrap()
    }

    #[test]
    fn lines_end_in_any_of_three_ways_and_comments_are_skipped() {
        let text = "\u{feff}event: a\ndata: 1\n\n: ping\r\n\r\nid: 7\rdata:2\r\rdata\n\ndata: x\ndata:  y\n\n";
        let expected = [event("a", "1"), event("", "2"), event("", ""), event("", "x\n y")];
        assert_eq!(whole(text), expected);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_one() {
        assert!(whole("data: cut").is_empty());
        assert_eq!(whole("event: nothing\n\ndata: 1\n\n"), [event("", "1")]);
    }

    #[test]
    fn an_event_has_a_longest_size() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        let fed = (0..40).take_while(|_| parser.push(&piece).is_ok()).count();
        assert_eq!(fed, LONGEST >> 20);
    }

    #[test]
    fn the_events_do_not_depend_on_how_the_stream_is_cut() {
        arbtest::arbtest(|u| {
            let mut text = String::new();
            for _ in 0..u.int_in_range(1..=6)? {
                for _ in 0..u.int_in_range(0..=3)? {
                    let field = *u.choose(&["data: ", "data:", "event: ", ": ", "data", "zz: "])?;
                    text += field;
                    text += u.choose(&["", "ß→🙂", "{\"a\": 1}", "a: b", " "])?;
                    text += u.choose(&["\n", "\r", "\r\n"])?;
                }
                text += u.choose(&["\n", "\r", "\r\n", "\n\n"])?;
            }
            let mut parser = Parser::default();
            let mut events = Vec::new();
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(u.int_in_range(1..=rest.len().min(7))?);
                events.extend(parser.push(piece).unwrap());
                rest = after;
            }
            assert_eq!(events, whole(&text), "{text:?}");
            Ok(())
        });
    }
}
