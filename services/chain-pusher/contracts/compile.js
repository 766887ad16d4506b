import { readFileSync, writeFileSync } from 'node:fs';
import solc from 'solc';

const here = (path) => new URL(path, import.meta.url);
const name = 'PushRegistry';

const settings = {
  optimizer: { enabled: true, runs: 10_000 },
  // Runs on chains that lack later opcodes.
  evmVersion: 'paris',
  metadata: { bytecodeHash: 'none' },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
};

/** Compiles the registry contract: its ABI and the bytecode that deploys it. */
export function compileRegistry() {
  const content = readFileSync(here(`${name}.sol`), 'utf8');
  const input = { language: 'Solidity', sources: { [`${name}.sol`]: { content } }, settings };
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input)));
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const { abi, evm } = contracts[`${name}.sol`][name];
  return { contract: name, compiler: solc.version(), abi, bytecode: `0x${evm.bytecode.object}` };
}

/** `npm run contracts -w @orrery/chain-pusher` writes what is committed. */
if (process.argv[1] === here('compile.js').pathname) {
  const compiled = compileRegistry();
  writeFileSync(here(`${name}.json`), `${JSON.stringify(compiled, undefined, 2)}\n`);
  const source = `// Written by contracts/compile.js.
export const pushRegistryBytecode = '${compiled.bytecode}';
`;
  writeFileSync(here('../src/chains/evm/registry-bytecode.ts'), source);
}
