/** Deployments are owned in this many parts; it never changes once a database has been made. */
export const PARTITIONS = 64;

export const partitionOf = (deploymentId: number): number => deploymentId % PARTITIONS;
