import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { listen } from '@orrery/testing/servers';

/** A connection of TCP between a process and a server, which can be broken in the ways in which networks break. */
export interface Link extends AsyncDisposable {
  readonly port: number;
  /** Breaks all connections, and refuses new ones until `mend`. */
  cut(): void;
  /** Nothing passes any more, and nothing is refused, until `mend`. */
  stall(): void;
  mend(): void;
  /** Breaks all connections once. */
  drop(): void;
}

type State = 'open' | 'cut' | 'stalled';

interface Pair {
  readonly client: Socket;
  server: Socket | undefined;
}

/** Passes connections on to a server at this address, for one process each. */
export async function startLink(target: NetConnectOpts): Promise<Link> {
  const pairs = new Set<Pair>();
  let state: State = 'open';
  const listener = createServer({ noDelay: true }, (client) => {
    const pair: Pair = { client, server: undefined };
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      pair.server?.destroy();
    };
    client.on('error', end).on('close', end);
    if (state === 'cut') return end();
    pairs.add(pair);
    if (state === 'open') join(pair, target, end);
  });
  const listening = await listen(listener);
  const drop = () => {
    for (const { client } of pairs) client.resetAndDestroy();
  };
  return {
    ...listening,
    drop,
    cut: () => {
      state = 'cut';
      drop();
    },
    stall: () => {
      state = 'stalled';
      for (const { client, server } of pairs) {
        client.unpipe();
        server?.unpipe();
      }
    },
    mend: () => {
      const before = state;
      state = 'open';
      if (before === 'stalled') for (const pair of pairs) join(pair, target, () => pair.client.destroy());
    },
  };
}

function join(pair: Pair, target: NetConnectOpts, end: () => void): void {
  if (pair.server === undefined) {
    pair.server = connect(target).setNoDelay(true);
    pair.server.on('error', end).on('close', end);
  }
  pair.client.pipe(pair.server);
  pair.server.pipe(pair.client);
}
