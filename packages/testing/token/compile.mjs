// Compiles the contracts of the tests: `node packages/testing/token/compile.mjs`.
import { readFileSync, writeFileSync } from 'node:fs';
import solc from 'solc';

const here = new URL('.', import.meta.url);

function compiled(file) {
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(new URL(file, here), 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'cancun',
      metadata: { appendCBOR: false },
      outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input)));
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return contracts[file];
}

const write = (file, content) => writeFileSync(new URL(file, here), `${JSON.stringify(content)}\n`);
const { TestToken } = compiled('TestToken.sol');
const { TestAccountFactory, HostileAccount } = compiled('TestAccounts.sol');
write('TestToken.json', { deployedBytecode: `0x${TestToken.evm.deployedBytecode.object}` });
write('TestAccounts.json', {
  factory: `0x${TestAccountFactory.evm.bytecode.object}`,
  hostile: `0x${HostileAccount.evm.bytecode.object}`,
});
