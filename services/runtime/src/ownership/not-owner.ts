/** This process does not own the deployment (any more): the call belongs to another. Never leaves the runtime. */
export class NotOwner extends Error {
  override readonly name = 'NotOwner';
  readonly partition: number;

  constructor(partition: number) {
    super(`partition ${partition} is not owned here`);
    this.partition = partition;
  }
}
