// Compiles TestToken.sol into ../src/payments/token-code.ts: `node packages/testing/token/compile.mjs`.
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
const lines = code.match(/.{1,100}/g).map((line) => `  '${line}'`);
const text = `/** The code of \`token/TestToken.sol\`, as it stands on a chain; made by \`token/compile.mjs\`. */
export const TOKEN_CODE = \`0x\${[
${lines.join(',\n')},
].join('')}\` as const;
`;
writeFileSync(new URL('../src/payments/token-code.ts', here), text);
