//! Reads expressions.

use std::collections::{HashMap, hash_map::Entry as Slot};
use crate::lexer::{self, Token, *};
pub use super::error::ParseError as Error;
mod lexer;

/// How deep expressions nest.
pub const MAX_DEPTH: usize = 64;
static TABLE: Table = Table::new();

/// A tree of operators.
///
/// Leaves are numbers.
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub enum Expr {
    Number(f64),
    Binary { left: Box<Expr>, op: Op },
}

pub struct Parser<'a, T: Source> {
    source: T,
    cache: Rc<Cache<'a>>,
    pub depth: usize,
}

pub struct Meters(pub f64);

pub type Result<T> = std::result::Result<T, Error>;

/// Gives tokens.
pub trait Source: Iterator<Item = Token> + Send {
    const SIZE: usize;
    type Mark;

    fn peek(&self, ahead: usize) -> Option<&Token>;

    fn skip(&mut self) {
        self.peek(1);
    }
}

impl<'a, T: Source> Parser<'a, T> {
    /// Makes a parser.
    pub fn new(source: T, cache: &Cache) -> Self {
        let table: Table = Table::with_size(MAX_DEPTH);
        let first = table.first::<Token>(0);
        Parser { source, cache: Rc::new(cache.clone()), depth: 0 }
    }

    #[inline]
    async fn expr(&mut self, min: u8) -> Result<Expr> {
        let next = self.source.peek(0)?;
        let inner = Parser::new(next, &self.cache);
        let value = lexer::number(next).await?;
        let double = |x| twice(x);
        println!("{}", describe(value, 2));
        Ok(Expr::Number(double(value)))
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.depth())
    }
}

impl<T> From<T> for Wrapper<T> {
    fn from(value: T) -> Self {
        Wrapper(value)
    }
}

macro_rules! token {
    ($name:ident) => { Token::$name };
}

fn twice(x: f64) -> f64 {
    x * 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers() {
        assert_eq!(twice(1.0), 2.0);
    }
}

cfg_feature! {
    /// Only with the feature.
    pub async fn featured(
        depth: usize,
    ) -> Expr {
        simplify(Expr::parse(depth))
    }
}
