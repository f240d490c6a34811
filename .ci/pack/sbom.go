package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// document is an SPDX 2.3 document.
type document struct {
	SPDXVersion   string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID               string      `json:"SPDXID"`
	Name             string      `json:"name"`
	Version          string      `json:"versionInfo"`
	DownloadLocation string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	LicenseConcluded string      `json:"licenseConcluded"`
	LicenseDeclared  string      `json:"licenseDeclared"`
	Copyright        string      `json:"copyrightText"`
	Refs             []reference `json:"externalRefs"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const unasserted = "NOASSERTION"

// sbom writes the document of all modules that are linked into one of the binaries.
func sbom(output, version string, binaries []string, at time.Time) error {
	main := ""
	linked := map[string]string{} // versions by paths
	for _, binary := range binaries {
		info, err := buildinfo.ReadFile(binary)
		if err != nil {
			return err
		}
		main = info.Main.Path
		linked["stdlib"] = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			if m.Replace != nil {
				return fmt.Errorf("%s: %s is replaced", binary, m.Path)
			}
			linked[m.Path] = m.Version
		}
	}
	program := packageOf(main, version)
	program.LicenseDeclared = "Apache-2.0"
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "agent-chatter-" + version,
		Creation:      creation{at.Format(time.RFC3339), []string{"Tool: agent-chatter-pack"}},
		Packages:      []spdxPackage{program},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", program.ID}},
	}
	for path, v := range linked {
		d.Packages = append(d.Packages, packageOf(path, v))
	}
	slices.SortFunc(d.Packages[1:], func(a, b spdxPackage) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range d.Packages[1:] {
		d.Relationships = append(d.Relationships, relationship{program.ID, "DEPENDS_ON", p.ID})
	}
	return writeDocument(output, d)
}

// writeDocument names a document by its content, so that equal ones have one name, and writes it.
func writeDocument(output string, d document) error {
	content, err := json.Marshal(d)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8
	d.Namespace = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	content, err = json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(output, append(content, '\n'), 0o644)
}

func packageOf(path, version string) spdxPackage {
	id := strings.Map(func(r rune) rune {
		if r == '.' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}, path)
	return spdxPackage{
		ID: "SPDXRef-" + id, Name: path, Version: version,
		DownloadLocation: unasserted, LicenseConcluded: unasserted, LicenseDeclared: unasserted, Copyright: unasserted,
		Refs: []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")}},
	}
}
