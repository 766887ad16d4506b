import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { freePort } from './free-port.js';
import { runServerProgram, type TestServer } from './server-program.js';

export interface AnvilOptions {
  /** Default: 31337. */
  readonly chainId?: number;
  /** Seconds between blocks. By default each transaction makes a block of its own at once. */
  readonly blockTime?: number;
  /** Blocks that an epoch has; a block is final two epochs later. Default: 1. */
  readonly slotsInEpoch?: number;
  /** The port to listen on, for a node that replaces an earlier one. Default: any free port. */
  readonly port?: number;
  /** A file with the state, which is read at the start and written at the end. */
  readonly stateFile?: string;
  readonly args?: readonly string[];
}

/** The private keys of anvil's first accounts, each with 10,000 ether. */
export const ANVIL_KEYS = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
] as const;

/** Starts an Ethereum node (Foundry's anvil) on 127.0.0.1. */
export async function startAnvil(options: AnvilOptions = {}): Promise<TestServer> {
  const { chainId = 31_337, blockTime, slotsInEpoch = 1, stateFile, args = [] } = options;
  const port = options.port ?? (await freePort());
  const all = [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)],
    ...['--slots-in-an-epoch', String(slotsInEpoch)],
    ...(blockTime === undefined ? [] : ['--block-time', String(blockTime)]),
    ...(stateFile === undefined ? [] : ['--state', stateFile]),
    ...args,
  ];
  const program = { file: anvilProgram(), env: {} };
  const readyOn = (line: string) => line.includes('Listening on');
  const server = await runServerProgram({ program, args: all, temporary: '', readyOn });
  return { ...server, port, url: `http://127.0.0.1:${port}` };
}

/** The program itself: the package's own launcher would not pass SIGKILL on. */
function anvilProgram(): string {
  const { resolve } = createRequire(import.meta.url);
  const machine = `${platform}-${arch === 'x64' ? 'amd64' : arch}`;
  const wrapper = resolve('@foundry-rs/anvil/package.json');
  return createRequire(wrapper).resolve(`@foundry-rs/anvil-${machine}/bin/anvil`);
}
