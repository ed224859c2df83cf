{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE GADTs #-}
-- | A small parser for configuration files.
module Config.Parser
  ( Parser (..)
  , parseFile
  , module Config.Types
  ) where

import           Control.Applicative (Alternative (..), many)
import qualified Data.Map.Strict as Map
import Data.Text (Text)
import Config.Types hiding (Section)
import Prelude

-- | The longest line that is read.
maxLine :: Int
maxLine = 4096

-- | Why a file was refused.
data ParseError
  = Unexpected Char Position
  | EndOfInput
  | Custom { message :: Text, position :: Position }
  deriving (Show, Eq)

-- | Reads values of a type from text.
newtype Parser a = Parser
  { runParser :: Text -> Either ParseError (a, Text)
  }

type Settings = Map.Map Text Value

-- | What can be read and written.
class Monoid a => Codec a where
  -- | Reads a value.
  decode :: Text -> Maybe a
  encode :: a -> Text
  encode = render . normalise

instance Functor Parser where
  fmap f (Parser p) = Parser $ \input -> case p input of
    Left err -> Left err
    Right (value, rest) -> Right (f value, rest)

instance Codec Settings where
  decode = fmap Map.fromList . parsePairs

instance Show a => Show (Parser a) where
  show _ = "<parser>"

data Expr a where
  Lit :: Int -> Expr Int
  Add :: Expr Int -> Expr Int -> Expr Int

type family Elem c
type instance Elem [e] = e

-- | Takes one character that fits.
satisfy :: (Char -> Bool) -> Parser Char
satisfy check = Parser $ \case
  input | Just (c, rest) <- uncons input, check c -> Right (c, rest)
  _ -> Left EndOfInput

-- | Reads a whole file.
--
-- Gives the first error.
parseFile :: FilePath -> Int -> IO (Either ParseError Settings)
parseFile path limit = do
  text <- readText path
  let trimmed = strip text
      go 0 acc = acc
      go n acc = go (n - 1) (step acc)
  case runParser settings (go limit trimmed) of
    Left err -> pure (Left err)
    Right (found, _) -> pure $ Right found
  where
    step = Map.map reduce

settings :: Parser Settings
settings = Map.fromList <$> many pair

factorial :: Int -> Int
factorial 0 = 1
factorial n = n * factorial (n - 1)

infixl 4 <+>
(<+>) :: Parser a -> Parser a -> Parser a
left <+> right = left <|> right

foreign import ccall "math.h sin" c_sin :: Double -> Double
