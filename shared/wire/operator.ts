/** Operators by name; their kernels are in kernels.ts. */
export type OperatorName = 'sum' | 'mean' | 'min' | 'max'
