/** The pages of a deployment, by their part of the address. */
export const TABS = [
  ['overview', 'Overview'],
  ['live', 'Live'],
  ['data', 'Data'],
  ['run', 'Run'],
  ['verify', 'Verify'],
  ['what-if', 'What if'],
  ['schedules', 'Schedules'],
  ['pushes', 'Pushes'],
  ['payments', 'Payments'],
  ['ai', 'AI'],
  ['settings', 'Settings'],
] as const;
