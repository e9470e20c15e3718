/** A log that never throws, for functions that never do. */
export const guardedLog =
	(log: (message: string, error: unknown) => void) =>
	(message: string, error: unknown): void => {
		try {
			log(message, error);
		} catch {
			// The message is lost; the app continues.
		}
	};
