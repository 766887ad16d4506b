import { startNode } from '@orrery/testing/system';
import { expect, test } from 'vitest';

/**
 * Ends at once; a child of it goes on to write where it wrote, late enough for the end to be noticed before. The test waits for
 * the output, not for these times.
 */
const program = `
  const late = "setTimeout(() => console.log('middle'), 500); setTimeout(() => console.log('late'), 1000)";
  const options = { stdio: 'inherit', detached: true };
  require('node:child_process').spawn(process.execPath, ['-e', late], options).unref();
  console.log('early');
`;

test('what a process writes is found although it has ended, until its output is closed', async () => {
  await using process = startNode('-e', {}, { args: [program] });
  await process.waitFor(/early/);
  expect((await process.waitFor(/late/))[0]).toBe('late');
  await expect(process.waitFor(/never/)).rejects.toThrow(
    'ended before it wrote /never/:\nearly\nmiddle\nlate',
  );
});
