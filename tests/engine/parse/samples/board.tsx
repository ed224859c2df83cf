import React, { memo, useState } from "react";
import { Card } from "./card";

interface Props {
  title: string;
  onPick(id: number): void;
}

/** A board of cards. */
export function Board({ title, onPick }: Props): JSX.Element {
  const [open, setOpen] = useState<boolean>(false);
  const pick = (id: number) => {
    onPick(id);
    setOpen(false);
  };
  return (
    <Layout.Main title={title}>
      <Card id={1} onClick={() => pick(1)} />
      <span>{format(title)}</span>
    </Layout.Main>
  );
}

// Drawn again only when its properties change.
export const Quiet = memo(function Quiet(props: Props) {
  return <Board {...props} />;
});

export default Board;
