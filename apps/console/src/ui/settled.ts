import { useEffect, useState } from 'react';

/** How long a value must stay the same before it is asked about, in milliseconds. */
const SETTLE_MS = 300;

/** A value once it has stayed the same for a moment; until then the one before. */
export function useSettled<Value extends string | number>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
