/** Gives the numbers from 0 to `total` - 1 to so many clients, each of which does one after the other. */
export async function runClients(
  clients: number,
  total: number,
  operate: (operation: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < total) {
      const operation = next;
      next += 1;
      await operate(operation);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Gives each of the items to one of so many clients. */
export const runClientsOver = <T>(
  clients: number,
  items: readonly T[],
  operate: (item: T) => Promise<void>,
): Promise<void> => runClients(clients, items.length, (number) => operate(items[number] as T));
