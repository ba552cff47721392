import { clsx, type ClassValue } from 'clsx';
import { twMerge } from 'tailwind-merge';

/** Joins class names. Later names override conflicting earlier names. */
export function classes(...values: ClassValue[]): string {
  return twMerge(clsx(values));
}
