import type { ServiceError } from '@orrery/contracts';

/** Counts by names; what is returned counts off. @throws the refusal beyond `most` of one name */
export function boundEach(most: number, refusal: () => ServiceError): (name: string) => () => void {
  const counts = new Map<string, number>();
  return (name) => {
    const open = counts.get(name) ?? 0;
    if (open >= most) throw refusal();
    counts.set(name, open + 1);
    return () => {
      const left = (counts.get(name) ?? 0) - 1;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    };
  };
}
