// Compiles TestToken.sol into TestToken.json: `node packages/testing/token/compile.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import solc from 'solc';

const here = new URL('.', import.meta.url);
const content = readFileSync(new URL('TestToken.sol', here), 'utf8');
const input = {
  language: 'Solidity',
  sources: { 'TestToken.sol': { content } },
  settings: {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'cancun',
    metadata: { appendCBOR: false },
    outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
  },
};
const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input)));
if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
const code = contracts['TestToken.sol'].TestToken.evm.deployedBytecode.object;
const text = JSON.stringify({ deployedBytecode: `0x${code}` });
writeFileSync(new URL('TestToken.json', here), `${text}\n`);
