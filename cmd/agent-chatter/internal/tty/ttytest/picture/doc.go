// Package picture draws screens of a terminal, as tmux captures them, as SVG.
package picture
