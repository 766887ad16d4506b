/** The greatest number from 1 to `last` for which it is so, where it is so up to one and not beyond; 0: for none. */
export async function lastThat(last: number, isSo: (number: number) => Promise<boolean>): Promise<number> {
  let [known, beyond] = [0, last + 1];
  while (beyond - known > 1) {
    const middle = Math.floor((known + beyond) / 2);
    if (await isSo(middle)) known = middle;
    else beyond = middle;
  }
  return known;
}
