/** Undoes one thing that the run has set up. */
export type Undo = () => Promise<unknown> | unknown;

/** Resources are released in reverse order; a failure is reported and does not prevent the others. */
export const createTeardown = () => {
	const undos: Undo[] = [];
	return {
		add: (undo: Undo): void => {
			undos.push(undo);
		},
		run: async (): Promise<void> => {
			for (const undo of undos.splice(0).reverse()) {
				try {
					await undo();
				} catch (error) {
					console.error('tear-down failed:', error);
				}
			}
		},
	};
};

export type Teardown = ReturnType<typeof createTeardown>;
